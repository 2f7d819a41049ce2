/** Secret values by name. They live in `secrets/`, flags or the environment, and never appear in logs, events, errors or exports. */
export interface Secrets {
  find(name: string): string | undefined
  /** Adds a value to what every log line and problem is redacted for. */
  guard(value: string): void
  /** The text with every known secret value replaced by `[redacted]`. */
  redact(text: string): string
}
