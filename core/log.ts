/** One line per fact. Levels as in pino. Never put a secret, a token or a body into a line; known secret values are redacted anyway. */
export interface Log {
  debug(fact: string, details?: Readonly<Record<string, unknown>>): void
  info(fact: string, details?: Readonly<Record<string, unknown>>): void
  warn(fact: string, details?: Readonly<Record<string, unknown>>): void
  error(fact: string, details?: Readonly<Record<string, unknown>>): void
}
