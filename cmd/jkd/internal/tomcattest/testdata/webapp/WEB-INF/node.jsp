<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true"
    import="java.util.*, jakarta.servlet.http.HttpSession" %><%!
    /* One of several containers. A request is counted when it comes, in all
       and under its id; while the gate is closed, it then waits. */
    private final Map<String, Integer> runs = new HashMap<>();
    private boolean closed;
    private int waiting;

    private synchronized void enter(String id) throws InterruptedException {
        runs.merge("", 1, Integer::sum);
        if (id != null) runs.merge(id, 1, Integer::sum);
        if (!closed) return;
        waiting++;
        while (closed) wait();
        waiting--;
    }

    private synchronized void gate(boolean close) {
        closed = close;
        notifyAll();
    }

    private synchronized String state(String id) {
        return "waiting=" + waiting + " runs=" + runs.getOrDefault(id == null ? "" : id, 0);
    }
%><%
    String cmd = request.getParameter("cmd"), id = request.getParameter("id");
    if (cmd != null) {
        if (!cmd.equals("state")) gate(cmd.equals("close"));
        out.print(state(id));
        return;
    }
    enter(id);
    HttpSession s = request.getSession(request.getParameter("session") != null);
    int visits = 0;
    if (s != null) synchronized (s) {
        Integer n = (Integer) s.getAttribute("visits");
        s.setAttribute("visits", visits = n == null ? 1 : n + 1);
    }
    out.print("node=" + System.getProperty("jkd.node") + " session=" + (s == null ? "-" : s.getId()) + " visits=" + visits);
%>
