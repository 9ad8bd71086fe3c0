<%@ page contentType="text/plain; charset=UTF-8" session="false" trimDirectiveWhitespaces="true"
    import="java.util.HexFormat, java.security.MessageDigest" %><%
    MessageDigest sum = MessageDigest.getInstance("SHA-256");
    long length = 0;
    byte[] buf = new byte[65536];
    for (int n; (n = request.getInputStream().read(buf)) > 0; length += n) sum.update(buf, 0, n);
    out.print(length + " " + HexFormat.of().formatHex(sum.digest()) + "\n");
%>
