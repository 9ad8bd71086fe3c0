<%@ page contentType="text/event-stream; charset=UTF-8" session="false" trimDirectiveWhitespaces="true"
    import="java.util.concurrent.*, java.util.concurrent.atomic.*" %><%
    /* Each event after the first waits for a request to release.jsp, so a
       client that has not seen the event before never gets the next one. */
    ConcurrentHashMap<String, Semaphore> gates;
    synchronized (application) {
        gates = (ConcurrentHashMap<String, Semaphore>) application.getAttribute("gates");
        if (gates == null) application.setAttribute("gates", gates = new ConcurrentHashMap<>());
    }
    Semaphore gate = gates.computeIfAbsent(request.getParameter("id"), k -> new Semaphore(0));
    int events = request.getParameter("n") == null ? 2 : Integer.parseInt(request.getParameter("n"));
    for (int i = 1; i <= events; i++) {
        if (i > 1 && !gate.tryAcquire(60, TimeUnit.SECONDS)) {
            out.print("data: nobody released me\n\n");
            break;
        }
        out.print("data: " + i + "\n\n");
        response.flushBuffer();
        out.flush();
    }
%>
