/** Most tokens, or searches, that one call of a model may be told to have used: what is more is no count. */
export const mostCounted = 1_000_000_000_000
