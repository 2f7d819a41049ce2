/** A plain SSE client on a bare socket: it can stop reading, and sees every byte. */
import { connect } from 'node:net'
import { createClock } from '../../core/base/clock.js'
import { parseJson } from './json.js'

export interface Frame {
  readonly event: string
  readonly id: string | undefined
  readonly data: any
}
export interface SseClient {
  readonly head: () => string
  readonly frames: Frame[]
  /** Resolves when `count` frames other than heartbeats are there; false after `ms`. */
  until(count: number, ms?: number): Promise<boolean>
  /** Resolves when the server ended the connection. */
  readonly ended: Promise<void>
  pause(): void
  resume(): void
  close(): void
}

const readFrame = (text: string): Frame | undefined => {
  const fields = new Map(
    text
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const event = fields.get('event')
  return event === undefined
    ? undefined
    : { event, id: fields.get('id'), data: parseJson(fields.get('data') ?? 'null') }
}

export const openStream = ({
  port,
  path,
  headers = {},
}: {
  port: number
  path: string
  headers?: Record<string, string>
}): SseClient => {
  const clock = createClock()
  const socket = connect(port, '127.0.0.1')
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const frames: Frame[] = []
  let head = ''
  let rest = ''
  const decoder = new TextDecoder()
  socket.on('data', (chunk) => {
    rest += decoder.decode(chunk, { stream: true })
    if (head === '') {
      const cut = rest.indexOf('\r\n\r\n')
      if (cut === -1) return
      head = rest.slice(0, cut)
      rest = rest.slice(cut + 4)
    }
    const parts = rest.split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const frame = readFrame(part)
      if (frame !== undefined) frames.push(frame)
    }
  })
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const data = (): number => frames.filter(({ event }) => event !== 'heartbeat').length
  return {
    frames,
    ended,
    head: () => head,
    async until(count, ms = 30_000) {
      const deadline = clock.elapsed() + ms
      while (data() < count && clock.elapsed() < deadline) await clock.sleep(5)
      return data() >= count
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
  }
}
