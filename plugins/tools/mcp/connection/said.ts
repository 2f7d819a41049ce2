/** What a server writes on its standard error: some for the log, the end of it for people who look for a fault. */
import { lastLines, redactedTo, toldLine, type Log } from '../../../../core/plugin.js'

const [mostLogged, mostShown, mostKept] = [100, 500, 5]
/** Signs of the last lines in one: the end of what it wrote says why it ended. */
const mostTold = 440
/** Of what it says of itself when it is connected: more is told nowhere. */
const mostInstructions = 8_000
export const keptInstructions = (said: string | undefined, redact: SaidParts['redact']): string | undefined =>
  said && redactedTo(said, mostInstructions, redact)
/** Of a line; longer ones are let go. */
export const mostSaid = 64 * 1024

export interface Said {
  readonly hear: (line: string) => void
  /** The last lines, in one: as many of them as are told whole, one at least. */
  last(): string
}

export interface SaidParts {
  readonly log: Log
  readonly redact: (text: string) => string
}

/** A hundred lines of one connection go to the log, made visible. */
export const createSaid = ({ log, redact }: SaidParts, server: string): Said => {
  let logged = 0
  const kept: string[] = []
  return {
    hear(line) {
      if (line.trim() === '') return
      const shown = toldLine(line, mostShown, redact)
      kept.push(shown)
      if (kept.length > mostKept) kept.shift()
      logged += 1
      if (logged <= mostLogged) log.info('an MCP server wrote', { server, line: shown })
      if (logged === mostLogged) log.info('more that this MCP server writes is left out', { server })
    },
    last: () => lastLines(kept, mostTold),
  }
}
