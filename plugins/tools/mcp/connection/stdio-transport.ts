/** The transport of servers that are programs: a message a line, over a supervised program. */
import { fault, within, type Clock, type Supervised, type SupervisedProgram } from '../../../../core/plugin.js'
import type { EndProgram } from './endings.js'
import type { JsonRpcMessage, Kit, Transport } from './kit.js'
import { createTooMuch, mostBytes, readMessage, tooMuchText } from './message.js'
import { createPace } from './pace.js'
import { readLines } from './reading.js'
import { mostSaid, type Said } from './said.js'

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
  readonly onGarbage: (line: string) => void
}

/** For the rest of what a program wrote that has ended, milliseconds. */
const mostHeardMs = 500

/** As the package wants it; each connection has one. */
export const createStdioTransport = (parts: StdioParts): Transport => {
  const { kit, supervised, endProgram, said, wish, onEnd, onGarbage } = parts
  let program: SupervisedProgram | undefined
  let ending: Promise<void> | undefined
  const ended = async (): Promise<void> => {
    if (program?.isThere === true) await endProgram(program)
  }
  const end = (reason: string): Promise<void> => {
    if (ending === undefined) onEnd(reason)
    return (ending ??= ended().then(() => transport.onclose?.()))
  }
  const isTooMuch = createTooMuch(parts.clock)
  const hear = (line: string): void => {
    if (line.trim() === '') return
    const message = read(kit, line)
    if (message !== undefined && isEcho(message)) return void end('it wrote back what it was sent: it is no MCP server')
    if (message !== undefined) return transport.onmessage?.(message)
    onGarbage(line)
    if (isTooMuch()) void end(tooMuchText)
  }
  /** Resolves when its standard error is over. */
  const listen = ({ stdout, stderr }: SupervisedProgram): Promise<void> => {
    const pace = createPace(parts.clock)
    const isOver = (): boolean => ending !== undefined
    const onTooLong = (): void => void end('it wrote a line of more than 16 MiB')
    void readLines(stdout, { most: mostBytes, visit: pace.visit(), hear, onTooLong, isOver })
    return readLines(stderr, {
      most: mostSaid,
      visit: pace.visit(),
      hear: said.hear,
      onTooLong: () => {},
      isOver: () => false,
    })
  }
  const transport: Transport = {
    async start() {
      program = await supervised.start({ ...wish, input: true })
      if (!program.isThere) throw fault(`the program could not be started in ${wish.folder}: is that folder there?`)
      const heard = listen(program)
      void program.exited.then(async ({ code, signal }) => {
        // What it wrote last says why; something else may hold its standard error open.
        await within(parts.clock, mostHeardMs, heard)
        await end(exitText(code, signal, said))
      })
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
  const message = readMessage(line)
  try {
    return message && kit.parseJSONRPCMessage(message)
  } catch {
    return undefined
  }
}

/** Clients alone begin so. */
const isEcho = (message: JsonRpcMessage): boolean => 'method' in message && message.method === 'initialize'

const exitText = (code: number | null, signal: string | null, said: Said): string => {
  const how = signal === null ? `it ended with code ${code}` : `${signal} ended it`
  return said.last() === '' ? how : `${how}: ${said.last()}`
}
