/**
 * The program of a process that works on hostile files: it imports the program of its family, and answers one job after
 * the other. Nothing that it says is believed.
 */
import { Socket } from 'node:net'
import { getPriority, setPriority } from 'node:os'
import { beginId, createFrameReader, frameOf, type Frame } from './frames.js'
import { fault } from '../base/assert.js'
import type { JobOutput, JobProgram, Refuse } from './contract.js'

/** The daemon goes first, and a machine with much else to do leaves enough: at 10 a job got a thirtieth of a core. */
const nice = 5
/** The daemon bounds what comes in. */
const anyLength = { head: 1024 * 1024, parts: Number.MAX_SAFE_INTEGER }
const mostReason = 300

/** Whoever asked: no person reads here. */
const asker = new Socket({ fd: 1 })

const write = (pieces: readonly Uint8Array[]): void => {
  for (const piece of pieces) asker.write(piece)
}

const refusals = new WeakSet<Error>()
const refuse: Refuse = (reason) => {
  const refusal = fault(reason)
  refusals.add(refusal)
  throw refusal
}
const refusal = (error: unknown): string =>
  error instanceof Error && refusals.has(error)
    ? error.message.slice(0, mostReason)
    : 'it cannot be read as what it says it is'

const answer = (id: unknown, { answer: value, files = {} }: JobOutput): Uint8Array[] =>
  frameOf({ id, done: value, names: Object.keys(files), rss: process.memoryUsage.rss() }, Object.values(files))

const work = async (program: JobProgram, { head, parts: [bytes = new Uint8Array()] }: Frame): Promise<void> => {
  const { id } = head
  try {
    write(answer(id, await program({ bytes, options: JSON.parse(JSON.stringify(head['options'] ?? null)) }, refuse)))
  } catch (error) {
    write(frameOf({ id, refused: refusal(error), rss: process.memoryUsage.rss() }, []))
  }
}

const main = async (): Promise<void> => {
  // Nobody but root may go before others again: a daemon that is nice already stays so.
  setPriority(Math.max(getPriority(), nice))
  const { work: program }: { readonly work: JobProgram } = await import(process.argv[2] ?? '')
  const read = createFrameReader(anyLength)
  process.stdin.on('data', (chunk: Buffer) => {
    const frame = read(chunk)
    if (frame === 'unfit') process.exit(1)
    if (frame !== undefined) void work(program, frame)
  })
  process.stdin.on('end', () => process.exit(0))
  write(frameOf({ id: beginId }, []))
}

await main()
