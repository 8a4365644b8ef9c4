"""Pages to text: what a page is, its main content as Markdown, and whether it is a reference at all."""
