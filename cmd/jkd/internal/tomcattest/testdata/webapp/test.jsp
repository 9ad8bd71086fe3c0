<%@ page contentType="text/html; charset=UTF-8" session="false" trimDirectiveWhitespaces="true" %><%
    /* Numbered lines, cut to exactly 113698 bytes. */
    StringBuilder page1 = new StringBuilder("<html><body><pre>\n");
    for (int i = 0; page1.length() < 113698; i++)
        page1.append(String.format("%06d a line of a page as large as pages were, with some text to fill it\n", i));
    String end = "</pre></body></html>\n";
    page1.setLength(113698 - end.length());
    out.print(page1.append(end));
%>
