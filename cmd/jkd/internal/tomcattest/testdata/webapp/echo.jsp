<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true"
    import="java.util.*, java.net.URLEncoder, java.security.MessageDigest" %><%!
    /* One "name=value" a line, values form-encoded: nothing in a request can
       look like another line. */
    static void line(JspWriter out, String name, Object value) throws java.io.IOException {
        out.print(name + "=" + URLEncoder.encode(value == null ? "<null>" : value.toString(), "UTF-8") + "\n");
    }
%><%
    MessageDigest sum = MessageDigest.getInstance("SHA-256");
    long length = 0;
    byte[] buf = new byte[16384];
    for (int n; (n = request.getInputStream().read(buf)) > 0; length += n) sum.update(buf, 0, n);

    line(out, "method", request.getMethod());
    line(out, "uri", request.getRequestURI());
    line(out, "contextPath", request.getContextPath());
    line(out, "servletPath", request.getServletPath());
    line(out, "pathInfo", request.getPathInfo());
    line(out, "query", request.getQueryString());
    line(out, "protocol", request.getProtocol());
    line(out, "scheme", request.getScheme());
    line(out, "secure", request.isSecure());
    line(out, "serverName", request.getServerName());
    line(out, "serverPort", request.getServerPort());
    line(out, "remoteAddr", request.getRemoteAddr());
    line(out, "remotePort", request.getRemotePort());
    line(out, "localAddr", request.getLocalAddr());
    line(out, "remoteUser", request.getRemoteUser());
    line(out, "authType", request.getAuthType());
    line(out, "contentType", request.getContentType());
    line(out, "contentLength", request.getContentLengthLong());
    for (String name : Collections.list(request.getHeaderNames()))
        for (String value : Collections.list(request.getHeaders(name)))
            line(out, "header." + name, value);
    for (String name : Collections.list(request.getAttributeNames()))
        line(out, "attribute." + name, request.getAttribute(name));
    /* Only now: getParameterMap could have read the body. */
    for (Map.Entry<String, String[]> p : request.getParameterMap().entrySet())
        line(out, "parameter." + p.getKey(), String.join(",", p.getValue()));
    line(out, "body.length", length);
    line(out, "body.sha256", HexFormat.of().formatHex(sum.digest()));
%>
