<%@ page contentType="text/plain; charset=UTF-8" trimDirectiveWhitespaces="true" %><%
    Integer visits = (Integer) session.getAttribute("visits");
    session.setAttribute("visits", visits = visits == null ? 1 : visits + 1);
    out.print(session.getId() + " " + visits + "\n");
%>
