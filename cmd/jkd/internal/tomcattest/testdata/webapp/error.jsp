<%@ page session="false" trimDirectiveWhitespaces="true" %><%
    if (request.getServletPath() != null) throw new IllegalStateException("thrown on purpose");
%>
