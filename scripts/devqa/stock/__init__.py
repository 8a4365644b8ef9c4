"""What is in stock: looking after the cache as a whole. How single answers get in and out is `devqa.llm.cache`."""
