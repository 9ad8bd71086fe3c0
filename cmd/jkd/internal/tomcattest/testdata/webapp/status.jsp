<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true" %><%
    response.setHeader("X-Page", "status");
    response.setStatus(Integer.parseInt(request.getParameter("code")));
%>
