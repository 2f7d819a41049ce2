/**
 * Slack as far as a bot sees it: the Web API, the addresses that files are sent to, and those that they are read from.
 * It counts what came, and answers otherwise where a test says so. `@slack/web-api` agrees with it:
 * test/plugins/connectors/slack/real-clients.test.ts.
 */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'

/** A call as it came: its arguments by name, whatever form they had. */
export interface SlackCall {
  readonly method: string
  readonly token: string
  readonly type: string
  readonly args: Readonly<Record<string, any>>
}
/** What a channel shows. */
export interface SlackMessage {
  readonly ts: string
  readonly channel: string
  readonly thread_ts?: string
  text: string
  blocks?: unknown
  readonly client_msg_id?: string
}
export interface SlackFile {
  readonly id: string
  readonly name: string
  readonly length: number
  bytes?: Buffer
  type?: string
  title?: string
  /** Where it was shared: once for each completion. */
  readonly shared: { channel?: string; thread_ts?: string }[]
}
/**
 * Answers a call in place of Slack, 1 being the first; what returns false is answered by Slack, what returns
 * `unanswered` is done by Slack, and nobody is told.
 */
export type SlackAnswerer = (call: SlackCall, response: ServerResponse, count: number) => void | false | 'unanswered'

export interface SlackServer {
  readonly port: number
  /** For `api_base_url`. */
  readonly base: string
  readonly calls: SlackCall[]
  readonly messages: SlackMessage[]
  readonly files: Map<string, SlackFile>
  /** What is read from it, by path: only with the token of the bot, as Slack does. */
  readonly pages: Map<string, { type: string; bytes: Uint8Array | string }>
  /** Requests for files, with the credential that came with them. */
  readonly read: { readonly path: string; readonly authorization: string | undefined }[]
  /** True: a message with a `client_msg_id` that was seen is not shown once more. */
  dedupes: boolean
  readonly methods: Readonly<Record<string, Method>>
  of(method: string): SlackCall[]
  /** How calls of a method are answered from now on; `upload` and `file` are the addresses of files. */
  on(method: string, answer: SlackAnswerer | undefined): void
  until(holds: () => boolean | Promise<boolean>, what: string): Promise<void>
}

export const botToken = 'xoxb-local-slack-token'
const clock = createClock()

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
const argsOf = (type: string, body: Buffer): Record<string, any> => {
  const text = body.toString('utf8')
  return type.startsWith('application/json') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
}
const json = (response: ServerResponse, value: object, status = 200, headers = {}): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(value))

/** As Slack says that something is wrong. */
export const refuses =
  (error: string, status = 200): SlackAnswerer =>
  (_, response) =>
    json(response, { ok: false, error }, status)
/** Too many: the header is whole seconds. */
export const tooMany =
  (seconds: string | undefined): SlackAnswerer =>
  (_, response) =>
    json(response, { ok: false, error: 'ratelimited' }, 429, seconds === undefined ? {} : { 'retry-after': seconds })
export const hangs: SlackAnswerer = () => {}
export const cuts: SlackAnswerer = (_, response) => void response.destroy()
/** Only the first `times` calls are answered otherwise. */
export const first =
  (times: number, answer: SlackAnswerer): SlackAnswerer =>
  (call, response, count) =>
    count <= times ? answer(call, response, count) : false

type Method = (call: SlackCall, response: ServerResponse) => void

/** True for blocks within the limits of Slack; none at all are posted by leaving them out. */
const areBlocks = (blocks: any): boolean => {
  if (!Array.isArray(blocks) || blocks.length === 0 || blocks.length > 50) return false
  const elements = blocks.flatMap((block) => block.elements ?? [])
  return (
    blocks.every(
      ({ type, text, elements: own = [] }) =>
        ['section', 'actions', 'input'].includes(type) && (text?.text ?? 'x').length <= 3000 && own.length <= 25,
    ) &&
    new Set(elements.map(({ action_id }) => action_id)).size === elements.length &&
    elements.every(({ text, value }) => text.text.length <= 75 && value.length <= 2000)
  )
}

/** The methods that bots call here, as far as they are looked at. */
const methodsOf = (slack: SlackServer): Readonly<Record<string, Method>> => {
  let stamps = 0
  const stamp = (): string => `1700000000.${String((stamps += 1)).padStart(6, '0')}`
  const ids = new Map<string, SlackMessage>()
  return {
    'auth.test': (_, response) =>
      json(response, {
        ok: true,
        url: 'https://local.slack.com/',
        team: 'Local',
        user: 'holdfast',
        team_id: 'T1',
        user_id: 'UBOT',
        bot_id: 'BBOT',
      }),
    'chat.postMessage': ({ args }, response) => {
      const { channel, text = '', thread_ts, client_msg_id, blocks } = args
      if (text === '' && blocks === undefined) return json(response, { ok: false, error: 'no_text' })
      if (blocks !== undefined && !areBlocks(blocks)) return json(response, { ok: false, error: 'invalid_blocks' })
      if (!/^[CDG]/u.test(channel)) return json(response, { ok: false, error: 'channel_not_found' })
      const known = slack.dedupes ? ids.get(client_msg_id) : undefined
      const message: SlackMessage = known ?? {
        ts: stamp(),
        channel,
        text,
        ...(thread_ts !== undefined && { thread_ts }),
        ...(client_msg_id !== undefined && { client_msg_id }),
        ...(blocks !== undefined && { blocks }),
      }
      if (known === undefined) slack.messages.push(message)
      if (client_msg_id !== undefined) ids.set(client_msg_id, message)
      json(response, { ok: true, channel, ts: message.ts, message: { ...message, type: 'message', bot_id: 'BBOT' } })
    },
    'chat.update': ({ args: { channel, ts, text = '', blocks } }, response) => {
      const message = slack.messages.find((one) => one.ts === ts && one.channel === channel)
      if (message === undefined) return json(response, { ok: false, error: 'message_not_found' })
      if (text.length > 4000) return json(response, { ok: false, error: 'msg_too_long' })
      message.text = text
      if (blocks === undefined) delete message.blocks
      else message.blocks = blocks
      json(response, { ok: true, channel, ts, text })
    },
    'chat.delete': ({ args: { channel, ts } }, response) => {
      const at = slack.messages.findIndex((one) => one.ts === ts && one.channel === channel)
      if (at < 0) return json(response, { ok: false, error: 'message_not_found' })
      slack.messages.splice(at, 1)
      json(response, { ok: true, channel, ts })
    },
    'chat.postEphemeral': ({ args: { channel, user, text } }, response) => {
      if (!channel || !user || !text) return json(response, { ok: false, error: 'invalid_arguments' })
      json(response, { ok: true, message_ts: stamp() })
    },
    'files.getUploadURLExternal': ({ args: { filename, length } }, response) => {
      if (filename === undefined || !(Number(length) > 0))
        return json(response, { ok: false, error: 'invalid_arguments' })
      const id = `F${slack.files.size + 1}`
      slack.files.set(id, { id, name: filename, length: Number(length), shared: [] })
      json(response, { ok: true, upload_url: `http://127.0.0.1:${slack.port}/upload/${id}`, file_id: id })
    },
    'files.completeUploadExternal': ({ args: { files, channel_id: channel, thread_ts } }, response) => {
      const named: { id: string; title?: string }[] = typeof files === 'string' ? JSON.parse(files) : files
      const found = named.map(({ id }) => slack.files.get(id))
      if (found.some((file) => file?.bytes === undefined)) return json(response, { ok: false, error: 'file_not_found' })
      for (const [at, file] of found.entries()) {
        if (file === undefined) continue
        const title = named[at]?.title
        if (title !== undefined) file.title = title
        file.shared.push({ ...(channel !== undefined && { channel }), ...(thread_ts !== undefined && { thread_ts }) })
      }
      json(response, { ok: true, files: named.map(({ id, title }) => ({ id, title })) })
    },
  }
}

/** The file in a form with parts, as `@slack/web-api` sends it; other bodies are the file. */
const uploaded = (type: string, body: Buffer): Buffer => {
  const boundary = /boundary="?([^";]+)/u.exec(type)?.[1]
  if (!type.startsWith('multipart/form-data') || boundary === undefined) return body
  const from = body.indexOf('\r\n\r\n') + 4
  return body.subarray(from, body.indexOf(`\r\n--${boundary}`, from))
}

const takeUpload = (slack: SlackServer, request: IncomingMessage, body: Buffer): [number, string] => {
  const file = slack.files.get((request.url ?? '').split('/').at(-1) ?? '')
  const type = request.headers['content-type'] ?? ''
  const bytes = uploaded(type, body)
  if (file === undefined) return [404, 'no such upload']
  if (bytes.length !== file.length) return [400, 'another length']
  file.bytes = bytes
  file.type = type
  return [200, `OK - ${bytes.length}`]
}

const giveFile = (slack: SlackServer, request: IncomingMessage, response: ServerResponse): void => {
  const page = slack.pages.get(request.url ?? '')
  if (page === undefined) return void response.writeHead(404).end()
  // Without a token that is good Slack shows the page on which people log in.
  if (request.headers.authorization !== `Bearer ${botToken}`)
    return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<!DOCTYPE html>Sign in')
  response.writeHead(200, { 'content-type': page.type }).end(page.bytes)
}

const answer = (slack: SlackServer, answers: ReadonlyMap<string, { answer: SlackAnswerer; count: number }>) => {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    const path = request.url ?? ''
    const authorization = request.headers.authorization
    const type = request.headers['content-type'] ?? ''
    const isCall = path.startsWith('/api/')
    const method = isCall ? path.slice('/api/'.length) : path.startsWith('/upload/') ? 'upload' : 'file'
    if (method === 'file') slack.read.push({ path, authorization })
    const args = isCall ? argsOf(type, body) : {}
    const token = authorization?.replace(/^Bearer /u, '') ?? String(args['token'] ?? '')
    const call: SlackCall = { method, token, type, args }
    slack.calls.push(call)
    const otherwise = answers.get(method)
    const came = otherwise === undefined ? false : otherwise.answer(call, response, (otherwise.count += 1))
    if (came === undefined) return
    perform(slack, { call, request, body }, came === 'unanswered' ? mute() : response)
  }
}

/** A response that nobody gets. */
const mute = (): ServerResponse => {
  const silent: any = { writeHead: () => silent, end: () => silent }
  return silent
}

interface Came {
  readonly call: SlackCall
  readonly request: IncomingMessage
  readonly body: Buffer
}

/** Does what Slack does. */
const perform = (slack: SlackServer, { call, request, body }: Came, response: ServerResponse): void => {
  const { method } = call
  if (method === 'file') return giveFile(slack, request, response)
  if (method === 'upload') {
    const [status, text] = takeUpload(slack, request, body)
    return void response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
  }
  if (call.token !== botToken)
    return json(response, { ok: false, error: call.token === '' ? 'not_authed' : 'invalid_auth' })
  const known = slack.methods[method]
  if (known === undefined) return json(response, { ok: false, error: 'unknown_method' })
  known(call, response)
}

export const startSlack = async (t: ExecutionContext<any>): Promise<SlackServer> => {
  const answers = new Map<string, { answer: SlackAnswerer; count: number }>()
  const slack: SlackServer = {
    get port() {
      const address = server.address() as AddressInfo
      return address.port
    },
    get base() {
      return `http://127.0.0.1:${slack.port}/api`
    },
    calls: [],
    messages: [],
    files: new Map(),
    pages: new Map(),
    read: [],
    dedupes: false,
    get methods() {
      return methods
    },
    of: (method) => slack.calls.filter((call) => call.method === method),
    on: (method, other) =>
      void (other === undefined ? answers.delete(method) : answers.set(method, { answer: other, count: 0 })),
    until: async (holds, what) => {
      const deadline = clock.elapsed() + 60_000
      while (!(await holds())) {
        if (clock.elapsed() > deadline)
          throw new Error(`not reached: ${what}; came ${JSON.stringify(slack.calls.map(({ method }) => method))}`)
        await clock.sleep(10)
      }
    },
  }
  const methods = methodsOf(slack)
  const handle = answer(slack, answers)
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return slack
}

export const signingSecret = 'local-signing-secret'
/** The headers with which Slack sends a body. */
export const signed = (
  body: string,
  { secret = signingSecret, at = Math.floor(clock.now() / 1000) }: { secret?: string; at?: number | string } = {},
): Record<string, string> => ({
  'content-type': body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded',
  'x-slack-request-timestamp': String(at),
  'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`,
})

let events = 0
/** A message in a channel, as Slack tells of it. */
export const messageEvent = (event: object = {}, envelope: object = {}): any => {
  events += 1
  return {
    token: 'verification-token-of-slack',
    team_id: 'T1',
    context_team_id: 'T1',
    context_enterprise_id: null,
    api_app_id: 'A1',
    event: {
      type: 'message',
      user: 'U1',
      text: '/say hello',
      ts: `1700000001.${String(events).padStart(6, '0')}`,
      channel: 'C1',
      channel_type: 'channel',
      team: 'T1',
      event_ts: '1700000001.000001',
      ...event,
    },
    type: 'event_callback',
    event_id: `Ev${events}`,
    event_time: 1_700_000_001,
    authorizations: [{ enterprise_id: null, team_id: 'T1', user_id: 'UBOT', is_bot: true }],
    is_ext_shared_channel: false,
    ...envelope,
  }
}
