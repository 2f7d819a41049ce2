/** What a program writes on its standard error: some for the log, the end of it for people who look for a fault. */
import type { Readable } from 'node:stream'
import { toldLine, unsafeCast, type Clock, type Log } from '../../../../core/plugin.js'

export interface Said {
  /** Resolves at its end. Never rejects. */
  readonly heard: Promise<void>
  /** The last line that is not blank; empty if there is none. */
  last(): string
}

export interface SaidParts {
  readonly clock: Clock
  readonly log: Log
  readonly redact: (text: string) => string
}

/** Of a life: lines for the log, bytes that are read at once, and milliseconds before each piece behind them. */
const [mostLogged, mostAtOnce, restMs] = [100, 1024 * 1024, 20]
/** Bytes of a line, and signs of it that are shown. */
const [mostLine, mostShown] = [4_096, 300]

export const hearSaid = ({ clock, log, redact }: SaidParts, connector: string, stream: Readable): Said => {
  let [carry, last, logged, bytes]: [Buffer, Buffer, number, number] = [Buffer.alloc(0), Buffer.alloc(0), 0, 0]
  const shown = (line: Buffer): string => toldLine(line.toString('utf8'), mostShown, redact)
  const hear = (line: Buffer): void => {
    if (line.toString('latin1').trim() === '') return
    last = Buffer.from(line)
    logged += 1
    if (logged <= mostLogged) log.debug('a sidecar wrote', { connector, line: shown(line) })
    if (logged === mostLogged) log.debug('more that this sidecar writes is left out', { connector })
  }
  const take = (chunk: Buffer): void => {
    // Of what is left out of the log only the end can be asked for.
    const piece = logged > mostLogged ? chunk.subarray(-2 * mostLine) : chunk
    const text = Buffer.concat([carry, piece])
    let from = 0
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, from)) {
      hear(text.subarray(from, Math.min(end, from + mostLine)))
      from = end + 1
    }
    carry = Buffer.from(text.subarray(from, from + mostLine))
  }
  const listen = async (): Promise<void> => {
    try {
      for await (const chunk of stream) {
        const piece = unsafeCast<Buffer>(chunk)
        take(piece)
        bytes += piece.length
        // Whoever writes without end waits, and nobody else does.
        if (bytes > mostAtOnce) await clock.sleep(restMs)
      }
    } catch {
      // It was closed.
    }
    if (carry.length > 0) hear(carry)
  }
  return { heard: listen(), last: () => shown(last) }
}
