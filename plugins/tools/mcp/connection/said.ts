/** What a server writes on its standard error: some for the log, the end of it for people who look for a fault. */
import { visibleLine, type Log } from '../../../../core/plugin.js'
import { createLines } from './lines.js'

const [mostLine, mostLogged, mostShown, mostKept] = [64 * 1024, 100, 500, 5]

export interface Said {
  readonly add: (chunk: Buffer) => void
  /** The last lines, in one. */
  last(): string
}

/** A hundred lines of one connection go to the log, made visible; what is written without line ends is let go. */
export const createSaid = (log: Log, server: string): Said => {
  let logged = 0
  const kept: string[] = []
  const hear = (line: string): void => {
    if (line.trim() === '') return
    const shown = visibleLine(line).slice(0, mostShown)
    kept.push(shown)
    if (kept.length > mostKept) kept.shift()
    logged += 1
    if (logged <= mostLogged) log.info('an MCP server wrote', { server, line: shown })
    if (logged === mostLogged) log.info('more that this MCP server writes is left out', { server })
  }
  let lines = createLines(mostLine, hear)
  return {
    add(chunk) {
      if (!lines.add(chunk)) lines = createLines(mostLine, hear)
    },
    last: () => kept.join(' | '),
  }
}
