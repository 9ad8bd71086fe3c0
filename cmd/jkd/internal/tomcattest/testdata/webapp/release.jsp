<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true"
    import="java.util.concurrent.*" %><%
    ConcurrentHashMap<String, Semaphore> gates = (ConcurrentHashMap<String, Semaphore>) application.getAttribute("gates");
    Semaphore gate = gates == null ? null : gates.get(request.getParameter("id"));
    if (gate != null) gate.release();
    out.print(gate == null ? "nobody waits\n" : "released\n");
%>
