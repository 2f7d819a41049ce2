import { across, holdsPiece, redactCanary } from '../../../support/canaries.js'
import { createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { safeWords } from '../../../../plugins/providers/streamed/vendor-words.js'
import { stream } from '../../../support/openai-server.js'
import { ask, requestOf, userText } from '../../../support/models.js'
import { connectTo, converseWith, failureOf, transport } from '../../../support/model-client.js'

test.after.always(() => transport.close())

/** The port of a server that does so with each connection on which something came. */
const listen = async (t: ExecutionContext, act: (socket: Socket) => void): Promise<number> => {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => act(socket)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const bodies: [string, number, unknown, RegExp][] = [
  [
    'a wrong model of Ollama',
    404,
    { error: { message: 'model "x" not found, try pulling it first' } },
    /not have this model/u,
  ],
  ['a wrong model of vLLM', 404, { object: 'error', message: 'The model `x` does not exist.' }, /not have this model/u],
  ['a wrong model of OpenAI', 404, { error: { code: 'model_not_found', message: 'No.' } }, /not have this model/u],
  ['a wrong model by code', 400, { error: { code: 'model_not_found', message: 'No.' } }, /not have this model/u],
  ['a forgotten path of Ollama', 404, '404 page not found', /may lack its path, such as \/v1/u],
  ['a forgotten path of vLLM', 404, { detail: 'Not Found' }, /may lack its path, such as \/v1/u],
  ['a forgotten path of OpenAI', 404, { error: { message: 'Invalid URL (POST /chat)' } }, /may lack its path/u],
  ['a web page', 404, '<html>Not found</html>', /may lack its path, such as \/v1/u],
]
for (const [name, status, body, expected] of bodies) {
  test(`models-19: ${name} is told from others, with the address and the model`, async (t) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const { ask: go, server } = await converseWith(t, { type: 'status', status, body: text })
    const message = failureOf(await go())?.message ?? ''
    t.regex(message, expected)
    t.true(message.endsWith(` Asked: ${server.url}, model test-model.`), message)
    t.false(message.includes('<html>'))
  })
}

test('a server that is not there is named', async (t) => {
  const answer = await ask(connectTo('http://127.0.0.1:9/v1'), requestOf([userText('hi')]))
  t.is(failureOf(answer)?.message, 'The provider cannot be reached. Asked: http://127.0.0.1:9/v1, model test-model.')
})

test('a port without TLS that is asked by https is told from a certificate that nobody trusts', async (t) => {
  const { server } = await converseWith(t, stream({}))
  const answer = await ask(connectTo(server.url.replace('http:', 'https:')), requestOf([userText('hi')]))
  t.regex(failureOf(answer)?.message ?? '', /^What answers at this address speaks no TLS: the server may want http,/u)
  t.is(failureOf(answer)?.retryable, false)
})

const closing = 'The connection to the provider broke before anything was answered; the server may want https. '
const cutting = 'The connection to the provider broke. '
const breaks: readonly [string, scheme: string, Parameters<typeof listen>[1], begin: string][] = [
  ['is closed', 'http', (socket) => void socket.destroy(), closing],
  ['is reset', 'http', (socket) => void socket.resetAndDestroy(), closing],
  ['is closed amid the head of an answer', 'http', (socket) => void socket.end('HTTP/1.1 200 O'), cutting],
  ['is closed in the handshake', 'https', (socket) => void socket.destroy(), cutting],
]
for (const [what, scheme, act, begin] of breaks)
  test(`https is named only where a connection by http brought nothing: ${scheme} that ${what}`, async (t) => {
    const answer = await ask(connectTo(`${scheme}://127.0.0.1:${await listen(t, act)}`), requestOf([userText('hi')]))
    t.true(failureOf(answer)?.message.startsWith(begin), failureOf(answer)?.message)
    t.like(failureOf(answer), { class: 'network', retryable: true })
  })

test('nobody is told that a key was refused who gave none', async (t) => {
  const reply = { type: 'status' as const, status: 401, body: '{"error":{"message":"You gave no key."}}' }
  const without = await converseWith(t, reply)
  t.regex(
    failureOf(await without.ask())?.message ?? '',
    /^The provider wants a key, and none was given \(status 401\)\./u,
  )
  t.like(without.connection.readiness(), { state: 'warning', code: 'credential_missing' })
  const withKey = await converseWith(t, reply, { api_key: 'k-123' })
  t.regex(failureOf(await withKey.ask())?.message ?? '', /^The provider refused the key \(status 401\)\./u)
  t.like(withKey.connection.readiness(), { state: 'warning', code: 'credential_refused' })
})

test('models-20: what the provider says is shown in one short line, without what steers a terminal and without secrets', async (t) => {
  const said = `Incorrect key: my-own-key\u001b]52;c;\u0007\n\u202emodel\u200b ${'long '.repeat(100)}`
  const { ask: go } = await converseWith(
    t,
    { type: 'status', status: 400, body: JSON.stringify({ error: { message: said } }) },
    { api_key: 'my-own-key' },
  )
  const message = failureOf(await go())?.message ?? ''
  t.true(message.includes('It said: "Incorrect key: [redacted] ]52;c; model long long'), message)
  t.true(message.length < 400)
  t.notRegex(message, /my-own-key|[\p{C}]/u)
  const redact = (text: string): string => text
  t.is(safeWords('Incorrect API key provided: sk-proj-****abcd.', redact), 'Incorrect API key provided: [redacted]')
  t.is(safeWords('key sk-abcdefghij0123456789abcdef', redact), 'key <redacted>')
  t.is(safeWords(' \u0000 ', redact), undefined)
})

test('secrets-25: a secret across the end of what is looked at is redacted', (t) => {
  for (const text of [...across(2000, ' '), ...across(200)]) t.false(holdsPiece(safeWords(text, redactCanary) ?? ''))
})

const disguises = ['my%2Down%2dkey', 'my\\u002down-key', 'my\u200b-own-key', 'my-\u001b[1mown-key', '%6Dy-own-key']
for (const spoken of ['openai_compatible', 'anthropic', 'google', 'openai'] as const)
  test(`models-75: a key in disguise is not shown of what a server says: ${spoken}`, async (t) => {
    for (const key of disguises)
      for (const status of [400, 401]) {
        const body = JSON.stringify({ error: { message: `Your key ${key} is wrong.` } })
        const { ask: go } = await converseWith(t, { type: 'status', status, body }, { spoken, api_key: 'my-own-key' })
        t.regex(failureOf(await go())?.message ?? '', /It said: "Your key \[redacted\] is wrong\."/u, key)
      }
    const { ask: go } = await converseWith(t, stream({ error: { message: `Key ${disguises[0]}`, type: 'x' } }), {
      spoken,
      api_key: 'my-own-key',
    })
    t.notRegex(JSON.stringify(await go()), /own/u)
  })

const tooLong: readonly string[] = [
  'prompt is too long: 210000 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000',
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
  "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
  'Please reduce the length of the messages or completion.',
  'the request exceeds the available context size, try increasing it',
  'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
  'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.',
  'Input is too long for requested model.',
  'Invalid request: Your request exceeded model token limit: 8192',
  'Range of input length should be [1, 30720]',
  'Input length (50000 tokens) exceeds the maximum allowed length (32768 tokens).',
]
test('prompt-10: a server that finds a conversation too long is understood, in the words of each vendor', async (t) => {
  for (const message of tooLong) {
    const reply = { type: 'status' as const, status: 400, body: JSON.stringify({ error: { message } }) }
    t.is(failureOf(await (await converseWith(t, reply)).ask())?.class, 'context_length', message)
  }
  for (const message of ['Temperature is too high.', 'Invalid value for max_tokens.', 'Unknown context.']) {
    const reply = { type: 'status' as const, status: 400, body: JSON.stringify({ error: { message } }) }
    t.is(failureOf(await (await converseWith(t, reply)).ask())?.class, 'bad_request', message)
  }
})
