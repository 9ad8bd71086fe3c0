<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true"
    import="java.util.concurrent.*" %><%
    ConcurrentHashMap<String, Semaphore> gates = (ConcurrentHashMap<String, Semaphore>) application.getAttribute("gates");
    Semaphore gate = gates == null ? null : gates.get(request.getParameter("id"));
    out.print(gate == null ? 0 : gate.getQueueLength());
%>
