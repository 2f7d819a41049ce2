// Cannot even be imported.
throw new Error('the import is broken')
