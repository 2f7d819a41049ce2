/**
 * An MCP server on standard input and output that says what it is told to by its first argument, a JSON text of
 * `McpPlan`, and notes what it is asked in a file. Written by hand, so that it can be wrong in every way.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface McpPlan {
  /** What it is asked is noted here, a line for each method. */
  readonly notes?: string
  readonly tools?: readonly object[]
  /** Tools from a JSON file; when the file changes, the change is told. */
  readonly toolFile?: string
  /** So many tools by themselves. */
  readonly many?: number
  readonly instructions?: string
  readonly resources?: readonly object[]
  /** The answer to `prompts/list`; it offers none when absent. */
  readonly prompts?: object
  /** A JSON file with the answer to `prompts/get`. */
  readonly promptFile?: string
  /** What it writes before anything else. */
  readonly garbage?: string
  /** It writes lines without an end: notifications, or what it says on its standard error. */
  readonly floods?: 'stdout' | 'stderr'
  /** Bytes of one line. */
  readonly longLine?: number
  /** `initialize`, `tools/list` or `tools/call`: it never answers. */
  readonly hangs?: string
  /** It ends by itself when it is asked this, the first time that its notes have no `died`. */
  readonly dies?: string
  /** Once it has died it does not begin again. */
  readonly staysAway?: boolean
  /** What it says of its progress. */
  readonly says?: string
  /** It has a process beside it that outlives it; a bare one shows in no way whose it is, once its parent is gone. */
  readonly child?: boolean | 'bare'
  /** It answers only if this stands in its environment: a name, =, and the value. */
  readonly answersWith?: string
  /** While it lists its tools for the first time, they change: then there is `later` alone. */
  readonly changes?: boolean
  /** Environment variables whose values it puts into its instructions, and its arguments behind the plan. */
  readonly shows?: readonly string[]
  /** What stands as the result of a method in place of its own, whatever it is. */
  readonly results?: Readonly<Record<string, unknown>>
  /** It asks for a model when a tool is called, and answers with what it is told. */
  readonly samples?: boolean
}

type Message = { id?: number; method?: string; params?: any; result?: any; error?: any }

const main = (plan: McpPlan): void => {
  const write = (message: object): void =>
    void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const note = (text: string): void => {
    if (plan.notes !== undefined) appendFileSync(plan.notes, `${text}\n`)
  }
  const toolsNow = (): readonly object[] => {
    const file = plan.toolFile
    if (file !== undefined && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
    const many = Array.from({ length: plan.many ?? 0 }, (_, at) => ({
      name: `tool_${at}`,
      inputSchema: { type: 'object' },
    }))
    return [...(plan.tools ?? []), ...many]
  }
  const asked = new Map<number, (answer: Message) => void>()
  let nextId = 1_000
  const ask = (method: string): Promise<Message> => {
    nextId += 1
    write({ id: nextId, method, params: { messages: [], maxTokens: 1 } })
    const id = nextId
    return new Promise((resolve) => asked.set(id, resolve))
  }
  const said = [
    ...(plan.shows ?? []).map((name) => `${name}=${process.env[name] ?? ''}`),
    ...(plan.shows === undefined ? [] : process.argv.slice(3).map((word) => word.replace(/^--token=/u, ''))),
  ].join('\n')
  const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
  const callTool = async ({ id, params }: Message): Promise<void> => {
    const { name, arguments: input = {}, _meta } = params
    if (plan.samples === true) {
      const answer = await ask('sampling/createMessage')
      return write({ id, result: text(JSON.stringify(answer.error ?? answer.result)) })
    }
    if (name === 'slow')
      for (let at = 1; at <= 3; at += 1) {
        write({
          method: 'notifications/progress',
          params: { progressToken: _meta?.progressToken, progress: at, total: 3, message: plan.says ?? `step ${at}` },
        })
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
    if (name === 'floods') {
      for (let at = 1; at <= 200; at += 1)
        write({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken, progress: at } })
      // An answer in the same breath would end the call before what it said of its progress is heard.
      await ask('ping')
    }
    if (name === 'wrong') return write({ id, result: { ...text('It failed.'), isError: true } })
    if (name === 'refuses') return write({ id, error: { code: -32_602, message: 'No such thing.' } })
    if (name === 'picture')
      return write({ id, result: { content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] } })
    if (name === 'hangs') return undefined
    return write({ id, result: text(`${name} ${JSON.stringify(input)}`) })
  }
  let wasListed = false
  const [needed = '', value] = (plan.answersWith ?? '').split('=')
  const isMute = plan.answersWith !== undefined && process.env[needed] !== value
  const answers: Readonly<Record<string, (message: Message) => void>> = {
    initialize: ({ id, params }) =>
      write({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          serverInfo: { name: 'fixture', version: '1' },
          capabilities: {
            tools: { listChanged: true },
            ...(plan.resources !== undefined && { resources: {} }),
            ...(plan.prompts !== undefined && { prompts: {} }),
          },
          ...((plan.instructions !== undefined || said !== '') && { instructions: plan.instructions ?? said }),
        },
      }),
    ping: ({ id }) => write({ id, result: {} }),
    'tools/list': ({ id }) => {
      const isChanged = plan.changes === true && wasListed
      if (plan.changes === true && !wasListed) write({ method: 'notifications/tools/list_changed' })
      wasListed = true
      write({ id, result: { tools: isChanged ? [{ name: 'later', inputSchema: { type: 'object' } }] : toolsNow() } })
    },
    'resources/list': ({ id }) => write({ id, result: { resources: plan.resources } }),
    'resources/templates/list': ({ id }) => write({ id, result: { resourceTemplates: [] } }),
    'resources/read': ({ id, params }) =>
      write({ id, result: { contents: [{ uri: params.uri, mimeType: 'text/plain', text: `read ${params.uri}` }] } }),
    'prompts/list': ({ id }) => write({ id, result: plan.prompts }),
    'prompts/get': ({ id, params }) =>
      plan.promptFile === undefined
        ? write({ id, error: { code: -32_602, message: `No prompt ${params.name}.` } })
        : write({ id, result: JSON.parse(readFileSync(plan.promptFile, 'utf8')) }),
    'tools/call': (message) => void callTool(message),
  }
  note(`pid ${process.pid}`)
  if (plan.child !== undefined) {
    const env = plan.child === 'bare' ? {} : process.env
    const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore', detached: true, env })
    child.unref()
    note(`pid ${child.pid}`)
  }
  if (plan.garbage !== undefined) process.stdout.write(plan.garbage)
  if (plan.longLine !== undefined) process.stdout.write('x'.repeat(plan.longLine))
  if (plan.floods !== undefined) {
    const line = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(100) } }
    const [lines, output] = [`${JSON.stringify(line)}\n`.repeat(100), process[plan.floods]]
    const more = (): void => void output.write(lines, () => setImmediate(more))
    more()
  }
  if (plan.toolFile !== undefined) {
    let before = JSON.stringify(toolsNow())
    setInterval(() => {
      const now = JSON.stringify(toolsNow())
      if (now !== before) write({ method: 'notifications/tools/list_changed' })
      before = now
    }, 20)
  }
  const hasDied = (): boolean =>
    plan.notes !== undefined && existsSync(plan.notes) && /^died$/mu.test(readFileSync(plan.notes, 'utf8'))
  if (plan.staysAway === true && hasDied()) process.exit(3)
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message: Message = JSON.parse(line)
    const { method = '' } = message
    if (method === '') return asked.get(message.id ?? 0)?.(message)
    note(method === 'tools/call' ? `tools/call ${message.params.name}` : method)
    if (plan.dies === method && !hasDied()) {
      note('died')
      process.exit(3)
    }
    if (plan.results !== undefined && method in plan.results) write({ id: message.id, result: plan.results[method] })
    else if (plan.hangs !== method && !isMute) answers[method]?.(message)
    return undefined
  })
  process.stdin.on('close', () => process.exit(0))
}

main(JSON.parse(process.argv[2] ?? '{}'))
