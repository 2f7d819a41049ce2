/** How much one call of a model may have. */

/** Tokens of question and answer together. */
export interface ContextWindow {
  readonly tokens: number
  /** Of an answer, where nobody says how long it may be. */
  readonly answer?: number
  /** Nobody has said it: a cautious number stands in. */
  readonly guessed?: true
}

export interface WindowSources {
  /** As the route says, whatever its model is. */
  readonly own: number | undefined
  /** Where nobody says. */
  readonly usual: number
  readonly provider: ((model: string) => ContextWindow | undefined) | undefined
}

/** The route beats what its provider knows of its models. */
export const windowOf =
  ({ own, usual, provider }: WindowSources) =>
  (model: string): ContextWindow => {
    const known = provider?.(model)
    if (own === undefined) return known ?? { tokens: usual, guessed: true }
    return { tokens: own, ...(known?.answer !== undefined && { answer: known.answer }) }
  }
