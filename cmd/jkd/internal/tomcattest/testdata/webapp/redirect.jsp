<%@ page session="false" trimDirectiveWhitespaces="true" %><%
    response.sendRedirect("hello.jsp");
%>
