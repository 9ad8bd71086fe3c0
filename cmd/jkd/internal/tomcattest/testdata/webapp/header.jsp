<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true" %><%
    response.setHeader("X-Big", "x".repeat(Integer.parseInt(request.getParameter("size"))));
    out.print("a large field\n");
%>
