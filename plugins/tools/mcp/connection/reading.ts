/** Lines that a program writes, read no faster than its pace: what is not read yet waits at the program. */
import type { Readable } from 'node:stream'
import { unsafeCast } from '../../../../core/plugin.js'
import { createLines } from './lines.js'
import type { Visit } from './pace.js'

export interface Reading {
  /** Most bytes of a line. */
  readonly most: number
  readonly visit: Visit
  /** Must not throw. */
  readonly hear: (line: string) => void
  /** A line was longer, and is let go with all that came with it. */
  readonly onTooLong: () => void
  /** True when nothing more is to be heard: the rest is let go. */
  readonly isOver: () => boolean
}

/** Resolves at the end of the stream. Never rejects. */
export const readLines = async (stream: Readable, reading: Reading): Promise<void> => {
  const { most, visit, hear, onTooLong, isOver } = reading
  let lines = createLines(most)
  const take = async (chunk: Uint8Array): Promise<void> => {
    visit.begin()
    for (const line of lines.of(chunk)) {
      if (isOver()) break
      hear(line)
      const rest = visit.rest()
      if (rest !== undefined) await rest
    }
    visit.end()
    if (!lines.isOver()) return
    lines = createLines(most)
    onTooLong()
  }
  try {
    for await (const chunk of stream) if (!isOver()) await take(unsafeCast<Uint8Array>(chunk))
  } catch {
    // It was closed.
  }
}
