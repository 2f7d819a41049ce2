/** The transport of servers that are programs: a message a line, over a supervised program. */
import {
  fault,
  isModest,
  within,
  type Clock,
  type Supervised,
  type SupervisedProgram,
} from '../../../../core/plugin.js'
import type { EndProgram } from './endings.js'
import type { JsonRpcMessage, Kit, Transport } from './kit.js'
import { createLines } from './lines.js'
import type { Said } from './said.js'

export interface StdioWish {
  readonly run: readonly string[]
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

export interface StdioParts {
  readonly kit: Kit
  readonly supervised: Supervised
  readonly clock: Clock
  readonly endProgram: EndProgram
  readonly said: Said
  readonly wish: StdioWish
  /** Told why the connection ends, once, before it does. */
  readonly onEnd: (reason: string) => void
  /** Told of a line that is no message. */
  readonly onGarbage: () => void
}

/** Most bytes of one message, and of messages that the server has not read. */
const mostBytes = 16 * 1024 * 1024
const modest = { depth: 128, most: 2_000_000 }
/** For a server to end when its input does, milliseconds. */
const quietMs = 1_000

/** As the package wants it; each connection has one. */
export const createStdioTransport = (parts: StdioParts): Transport => {
  const { kit, supervised, said, wish, onEnd, onGarbage } = parts
  let program: SupervisedProgram | undefined
  let ending: Promise<void> | undefined
  const end = (reason: string): Promise<void> => {
    if (ending === undefined) onEnd(reason)
    return (ending ??= ended(parts, program).then(() => transport.onclose?.()))
  }
  const lines = createLines(mostBytes, (line) => {
    if (ending !== undefined || line.trim() === '') return
    const message = isModest(line, modest) ? read(kit, line) : undefined
    if (message === undefined) onGarbage()
    else transport.onmessage?.(message)
  })
  const transport: Transport = {
    async start() {
      program = await supervised.start({ ...wish, input: true })
      if (!program.isThere) throw fault('the program could not be started')
      program.stderr.on('data', said.add)
      program.stdout.on('data', (chunk: Buffer) => {
        if (!lines.add(chunk)) void end('it wrote a line of more than 16 MiB')
      })
      void program.exited.then(({ code, signal }) => end(exitText(code, signal, said)))
    },
    send(message) {
      if (ending !== undefined || program?.input === undefined)
        return Promise.reject(new kit.SdkError(kit.SdkErrorCode.NotConnected, 'Not connected'))
      program.input.write(`${JSON.stringify(message)}\n`)
      if (program.input.writableLength > mostBytes) void end('it does not read what it is sent')
      return Promise.resolve()
    },
    close: () => end('it was closed'),
  }
  return transport
}

const read = (kit: Kit, line: string): JsonRpcMessage | undefined => {
  try {
    return kit.parseJSONRPCMessage(JSON.parse(line))
  } catch {
    return undefined
  }
}

const exitText = (code: number | null, signal: string | null, said: Said): string => {
  const how = signal === null ? `it ended with code ${code}` : `${signal} ended it`
  return said.last() === '' ? how : `${how}: ${said.last()}`
}

/** Asks the program to end, and then ends what is left of all that it started. */
const ended = async ({ clock, endProgram }: StdioParts, program: SupervisedProgram | undefined): Promise<void> => {
  if (program === undefined || !program.isThere) return
  program.input?.end()
  await within(clock, quietMs, program.exited)
  await endProgram(program)
}
