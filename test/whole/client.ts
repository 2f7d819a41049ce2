/**
 * A client that sends anything, gives up on a daemon that does not answer, and knows the routes from the daemon's own
 * document.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { fault } from '../../core/base/assert.js'
import { parseJson } from '../support/json.js'
import type { OpenapiCheck } from '../support/openapi-check.js'
import { createOpenapiCheck } from '../support/validators.js'

export interface Operation {
  readonly id: string
  readonly method: string
  /** With `{name}` for parameters. */
  readonly template: string
  readonly access: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly schema: any
    readonly required?: boolean
  }[]
  /** JSON Schema of the body; undefined if the route takes none. */
  readonly body: any
  /** It takes any bytes. */
  readonly takesBytes: boolean
  readonly bodyRequired: boolean
  /** Bytes; undefined if it takes no body. */
  readonly bodyLimit: number | undefined
  readonly bodyExample: any
  readonly responses: any
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}
export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, any>>
  readonly text: string
  readonly body: any
}

export interface Sender {
  /** Answers within five minutes or throws; an event stream is left after its head. */
  send(sent: Sent): Promise<Got>
  close(): void
}

export interface Client extends Sender {
  readonly document: any
  readonly operations: readonly Operation[]
  readonly check: OpenapiCheck
  /** Bytes on a bare socket; resolves with the answer. */
  raw(bytes: Uint8Array): Promise<Got>
}

const patienceMs = 300_000

export const operationsOf = ({ paths }: any): Operation[] =>
  Object.entries<any>(paths).flatMap(([template, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => {
      const { operationId, parameters = [], requestBody, responses } = operation
      const content = requestBody?.content['application/json']
      return {
        id: operationId,
        method: method.toUpperCase(),
        template,
        access: operation['x-access'],
        parameters,
        responses,
        body: content?.schema,
        takesBytes: requestBody?.content['*/*'] !== undefined,
        bodyRequired: requestBody?.required === true,
        bodyLimit: operation['x-body-limit-bytes'],
        bodyExample: content?.example,
      }
    }),
  )

/** The path of an operation with each parameter written as its value says. */
export const pathOf = ({ template }: Operation, values: Readonly<Record<string, string>> = {}): string =>
  template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => values[name] ?? 'nobody')

/** A query with, behind what it has, a value for each parameter that must be there. */
export const queryOf = ({ parameters }: Operation, query = ''): string => {
  const needed = parameters.filter(
    ({ in: place, name, required }) => place === 'query' && required === true && !query.startsWith(`${name}=`),
  )
  const parts = [query, ...needed.map(({ name }) => `${name}=nobody`)].filter((part) => part !== '')
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

const isStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true

const gotOf = (incoming: IncomingMessage, text: string): Got => {
  const json = /json/u.test(incoming.headers['content-type'] ?? '') && text !== ''
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: json ? parseJson(text) : undefined }
}

const exchange = (url: string, agent: Agent, { method, path, headers = {}, body }: Sent): Promise<Got> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const type =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
    const name = `${method} ${path.slice(0, 200)} ${String(body).slice(0, 200)}`
    const outgoing = httpRequest(
      { hostname, port, method, path, headers: { ...type, ...headers }, agent, timeout: patienceMs },
      (incoming) => {
        if (isStream(incoming)) {
          resolve(gotOf(incoming, ''))
          outgoing.destroy()
          return
        }
        const chunks: Buffer[] = []
        incoming
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('error', reject)
          .on('end', () => resolve(gotOf(incoming, Buffer.concat(chunks).toString('utf8'))))
      },
    )
    outgoing.on('timeout', () => outgoing.destroy(fault(`no answer in ${patienceMs} ms: ${name}`)))
    outgoing.on('error', reject).end(body)
  })

const rawExchange = (url: string, bytes: Uint8Array): Promise<Got> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const chunks: Buffer[] = []
    socket.setTimeout(patienceMs, () =>
      socket.destroy(fault(`no answer in ${patienceMs} ms: ${Buffer.from(bytes).toString('latin1').slice(0, 300)}`)),
    )
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (
        chunks[0]?.toString('latin1').split('\r\n\r\n', 1).join('').includes('content-type: text/event-stream') === true
      )
        socket.destroy()
    })
    socket.on('error', reject).on('close', () => {
      const answer = Buffer.concat(chunks).toString('utf8')
      const cut = answer.indexOf('\r\n\r\n')
      const [line = '', ...head] = answer.slice(0, cut).split('\r\n')
      const headers = Object.fromEntries(
        head.map((row) => [row.slice(0, row.indexOf(':')).toLowerCase(), row.slice(row.indexOf(':') + 1).trim()]),
      )
      const text = cut === -1 ? '' : answer.slice(cut + 4)
      const json = /json/u.test(headers['content-type'] ?? '') && text !== ''
      resolve({
        status: Number(/^HTTP\/1\.1 (\d{3})/u.exec(line)?.[1] ?? 0),
        headers,
        text,
        body: json ? parseJson(text) : undefined,
      })
    })
    socket.write(bytes)
  })

/** Sends over a few connections that stay open, from an address of this machine. */
export const createSender = (url: string, localAddress = '127.0.0.1'): Sender => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, localAddress })
  return { send: (sent) => exchange(url, agent, sent), close: () => agent.destroy() }
}

export const createClient = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Client> => {
  const sender = createSender(url)
  const { body: document } = await sender.send({ method: 'GET', path: '/v1/openapi.json', headers })
  return {
    document,
    operations: operationsOf(document),
    check: createOpenapiCheck(document),
    ...sender,
    raw: (bytes) => rawExchange(url, bytes),
  }
}

/** Runs `work` on every item, a few at a time. */
export const each = async <T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
  width = 8,
): Promise<void> => {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next
      next += 1
      const item = items[index]
      if (item !== undefined) await work(item, index)
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
}
