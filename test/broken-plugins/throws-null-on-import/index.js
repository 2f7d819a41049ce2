// What it throws is no error.
throw null
