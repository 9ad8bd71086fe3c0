<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true"
    import="jakarta.servlet.http.Cookie" %><%
    response.addCookie(new Cookie("first", "1"));
    response.addCookie(new Cookie("second", "2"));
    out.print("two cookies\n");
%>
