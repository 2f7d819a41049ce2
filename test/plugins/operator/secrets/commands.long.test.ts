import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { SecretReferences, SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, mainFile, startTestDaemon } from '../../../support/daemon.js'
import { lender, testPlugin } from '../../../support/plugins.js'

interface Typed {
  readonly words: readonly string[]
  readonly input?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
}

const run = (url: string, { words, input = '', env = {} }: Typed): Promise<{ code: number | null; text: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [mainFile, `--base-url=${url}`, 'secrets', ...words], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
    })
    let text = ''
    for (const out of [child.stdout, child.stderr])
      out.on('data', (piece: Buffer) => {
        text += piece.toString()
      })
    child.stdin.on('error', () => {}).end(input)
    child.once('close', (code) => resolve({ code, text }))
  })

test('secrets-12: a value comes from standard input, the environment or a file, and never from an argument', async (t) => {
  const slots = lender({ slots: SecretSlots })
  const { url } = await startTestDaemon(t, { plugins: [slots.plugin] })
  const value = (): string => slots.services().slots.value('a')
  const file = join(await freshRoot(), 'value')
  writeFileSync(file, '-----BEGIN X-----\ncanary-file\n-----END X-----\n')
  for (const [typed, expected] of [
    [{ words: ['--stdin'], input: 'canary-in\n' }, 'canary-in'],
    [{ words: ['--from-env', 'GIVEN', '--mode', 'api_key'], env: { GIVEN: 'canary-env' } }, 'canary-env'],
    [{ words: ['--from-file', file] }, '-----BEGIN X-----\ncanary-file\n-----END X-----'],
  ] as const) {
    const { code, text } = await run(url, { ...typed, words: ['set', 'a', ...typed.words] })
    t.is(code, 0, text)
    t.is(value(), expected)
    t.false(text.includes('canary'))
  }
  for (const [words, said] of [
    [['set', 'a'], /needs --stdin, --from-env or --from-file/u],
    [['set', 'a', 'canary'], /does not take/u],
    [['set', 'a', '--value', 'canary'], /--value/u],
    [['set', 'a', '--stdin', '--from-env', 'X'], /--stdin does not go with --from-env/u],
    [['set', 'a', '--from-env', 'ABSENT'], /--from-env gives nothing/u],
    [['set', 'a', '--stdin', '--mode', 'oauth_account'], /must be a JSON object/u],
  ] as const) {
    const { code, text } = await run(url, { words, input: 'canary-x' })
    t.not(code, 0)
    t.regex(text, said)
    t.false(text.includes('canary-x'))
  }
  const line = createCommandLine({ url })
  t.is((await line('secrets', 'list')).out, 'a  generic  the key of an API, version 3\n')
  t.is(JSON.parse((await line('secrets', 'get', 'a', '--output', 'json')).out).details.version, 3)
  const day = '\\d{4}-\\d\\d-\\d\\dT\\S+'
  const told = [
    'a  generic  the key of an API, version 3',
    `  made     ${day}`,
    `  changed  ${day}`,
    '  key      [0-9a-f]{16}',
    '  used by  nothing',
    '',
  ]
  t.regex((await line('secrets', 'get', 'a')).out, new RegExp(`^${told.join('\n')}$`, 'u'))
  t.is((await line('secrets', 'delete', 'a')).out, 'Deleted.\n')
  t.regex((await line('secrets', 'list')).out, /^None is stored/u)
})

test('secrets-12: a value that is no text is refused, and nothing is stored', async (t) => {
  const { url, request } = await startTestDaemon(t)
  const input = Buffer.from([0xff, 0x00, 0x9c, 0x41])
  const file = join(await freshRoot(), 'value')
  writeFileSync(file, input)
  for (const [words, said] of [
    [['set', 'a', '--stdin'], /--stdin gives what is not UTF-8: give bytes as base64 or hex \(flag_invalid\)/u],
    [['set', 'a', '--from-file', file], /cannot be used: it is not UTF-8/u],
    [['set', 'a', '--stdin', '--mode', 'oauth_account'], /is not UTF-8/u],
  ] as const) {
    const { code, text } = await run(url, { words, input })
    t.true(code === 2 || (code === 1 && words[2] === '--from-file'), text)
    t.regex(text, said)
  }
  t.deepEqual((await request('GET', '/v1/runtime/secrets')).body, [])
  const { code, text } = await run(url, { words: ['set', 'a', '--stdin'], input: 'ü\r\n' })
  t.is(code, 0, text)
})

test('secrets-12, secrets-14: an account is set as JSON and looked at under its own command', async (t) => {
  const { url } = await startTestDaemon(t)
  const { code } = await run(url, {
    words: ['set', 'mail', '--stdin', '--provider', 'mcp_oauth', '--mode', 'oauth_account'],
    input: '{"access_token":"canary"}',
  })
  t.is(code, 0)
  const line = createCommandLine({ url })
  const auth = ['runtime', 'auth', 'accounts'] as const
  t.is((await line(...auth, 'list')).out, 'mail  mcp_oauth  an OAuth account, version 1\n')
  t.is(JSON.parse((await line(...auth, 'get', 'mail', '--output', 'json')).out).mode, 'oauth_account')
  t.regex((await line(...auth, 'refresh', 'mail')).err, /Nothing in this daemon refreshes/u)
  t.is((await line(...auth, 'revoke', 'mail')).out, 'Revoked.\n')
  t.regex((await line(...auth, 'list')).out, /holdfast mcp oauth login SERVER.*--mode oauth_account --stdin\n$/u)
  await run(url, { words: ['set', 'plain', '--stdin'], input: 'canary' })
  t.regex(
    (await line(...auth, 'get', 'plain')).err,
    /The secret plain is no account\. \(secret_not_account\)\nList the accounts with holdfast runtime auth accounts list; .* holdfast secrets get plain\./u,
  )
})

test('secrets-10: what is refused because it is used names the command that takes its value all the same', async (t) => {
  const uses = testPlugin('uses', {
    register(ctx) {
      ctx.contribute(SecretReferences, { id: 'uses', of: () => [{ kind: 'test', id: 'one' }] })
    },
  })
  const { url } = await startTestDaemon(t, { plugins: [uses] })
  const input = '{"access_token":"canary"}'
  await run(url, { words: ['set', 'mail', '--stdin', '--mode', 'oauth_account'], input })
  const line = createCommandLine({ url })
  const refused = await line('runtime', 'auth', 'accounts', 'revoke', 'mail')
  t.regex(refused.err, /secret_in_use\)\n.*holdfast runtime auth revoke-slot mail\./u)
  t.regex((await line('runtime', 'auth', 'revoke-slot', 'mail')).out, /version 2, revoked/u)
})

test('secrets-4: a key file that is not there is told in one sentence', async (t) => {
  const daemon = await startTestDaemon(t, { flags: { 'secrets-key-file': '/no/such/key' } })
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  const { message } = warnings.find(({ code }: any) => code === 'secrets_key_unusable')
  t.regex(message, /it does not exist\.$/u)
  t.notRegex(message, /\.\./u)
  const body = { slot_id: 'a', state: { value: 'canary' } }
  t.regex((await daemon.request('POST', '/v1/runtime/secrets', body)).body.detail, /it does not exist\.$/u)
})
