<%@ page session="false" trimDirectiveWhitespaces="true" %><%
    long left = Long.parseLong(request.getParameter("bytes"));
    response.setContentType("application/octet-stream");
    if (request.getParameter("chunked") == null) response.setContentLengthLong(left);
    out.clear();
    out = pageContext.pushBody(); /* the stream is ours, not the writer's */
    jakarta.servlet.ServletOutputStream stream = response.getOutputStream();
    byte[] buf = new byte[251 * 256];
    for (int i = 0; i < buf.length; i++) buf[i] = (byte) (i % 251);
    for (; left > 0; left -= buf.length) stream.write(buf, 0, (int) Math.min(left, buf.length));
%>
