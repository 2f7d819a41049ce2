/** README is true: its commands are run as printed, and their answers mean what it says. */
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { spawnMain, spawnTestDaemon } from '../support/daemon.js'
import { startMortal } from '../support/mortal.js'
import { blocksFor, repository, sh, shBlocks } from '../support/docs.js'

const block = (name: string): string => blocksFor('README.md', name).join('')

test('the first run works as printed: a session, an answer, a call that asks, an approval, its output', async (t) => {
  const daemon = await startMortal(t)
  const commands = blocksFor('README.md', 'first-run')
  t.deepEqual([commands.length, commands.join('').match(/^curl |\$\(curl /gmu)?.length], [5, 5], 'five commands')
  const {
    printed: [created = '', answered = '', asked = '', allowed = '', shown = ''],
    run,
  } = await shBlocks(commands, { url: daemon.url, folder: daemon.root })
  t.is(run.err, '')
  t.is(JSON.parse(created).session_id, 'first')
  t.regex(answered, /^"outputs":.*"content":"You said: Hello"/u)
  const [request] = JSON.parse(`{${asked}}`).pending_approvals
  t.deepEqual([request.tool_name, request.input], ['bash', { command: 'uname -a' }])
  t.regex(allowed, /"content":"Asked and answered\."/u)
  t.is(shown, `"stdout":${JSON.stringify((await sh('uname -a', daemon.root)).out)}`)
  t.deepEqual(
    (await daemon.request('GET', '/v1/runs')).body.map(({ status }: { status: string }) => status),
    ['completed', 'completed'],
  )
  await daemon.stop()
})

test('between the question and the approval the daemon may be killed', async (t) => {
  const [create = '', , ask = '', allow = ''] = blocksFor('README.md', 'first-run')
  const first = await startMortal(t)
  const {
    printed: [, asked = ''],
  } = await shBlocks([create, ask], { url: first.url, folder: first.root })
  await first.kill('SIGKILL')
  const second = await startMortal(t, { root: first.root })
  const {
    printed: [, allowed = ''],
  } = await shBlocks([`asked='${asked}'`, allow], { url: second.url, folder: second.root })
  t.regex(allowed, /"content":"Asked and answered\."/u)
  await second.stop()
})

test('events can be watched with curl', async (t) => {
  const daemon = await startMortal(t)
  let over = false
  // curl ends when nobody reads on, at its next piece.
  const watching = sh(
    block('watch').trim().replace('curl ', 'curl -sm 30 ').replace('http://127.0.0.1:4000', daemon.url) +
      " | sed -n '/^event: run_updated/,/^data: /{p;/^data: /q}'",
    daemon.root,
  ).finally(() => {
    over = true
  })
  await daemon.request('POST', '/v1/sessions', { session_id: 'first' })
  while (!over) {
    await daemon.request('POST', '/v1/sessions/first/input', { content: 'x' })
    await new Promise((next) => {
      setTimeout(next, 100)
    })
  }
  t.regex((await watching).out, /event: run_updated\nid: \d+\ndata: \{/u)
  await daemon.stop()
})

test('a real model is a matter of flags', async (t) => {
  const flags = block('real-model').trim().split(' ').slice(3)
  const daemon = await startMortal(t, { flags })
  const { routes } = (await daemon.request('GET', '/v1/runtime')).body
  t.deepEqual(
    routes.map(({ provider, model }: { provider: string; model: string }) => [provider, model]),
    [['openai_compatible', 'NAME']],
  )
  await daemon.stop()
})

test('the example of a state root is a start, exactly as printed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-readme-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const [copy = '', modes = '', start = ''] = block('state-example').trim().split(' && ')
  t.is(start, 'npm start')
  await cp(join(repository, 'state-example'), join(folder, 'state-example'), { recursive: true })
  t.is((await sh(`${copy} && ${modes}`, folder)).code, 0)
  const daemon = await spawnTestDaemon(t, { root: join(folder, 'state') })
  t.is((await daemon.request('GET', '/v1/status')).body.storage.ok, true)
  t.true((await daemon.request('GET', '/v1/runs')).body.length > 0)
  t.notRegex(daemon.logText(), /"level":"(?:warn|error)"/u)
  await daemon.stop()
})

test('the commands of the command line work as printed', async (t) => {
  const daemon = await startMortal(t)
  await daemon.request('POST', '/v1/sessions', { session_id: 'first' })
  const lines = block('command-line')
    .trim()
    .split('\n')
    .map((line) => /^node dist\/core\/main\.js (.*)$/u.exec(line)?.[1] ?? t.fail(line))
  for (const line of lines) {
    const args = String(line)
      .split(/ (?=(?:[^']*'[^']*')*[^']*$)/u)
      .map((word) => word.replaceAll("'", ''))
    const { text, exited } = spawnMain(args, { SERVICE_DAEMON_URL: daemon.url, SERVICE_STATE_ROOT: daemon.root })
    t.is((await exited).code, 0, `${line}: ${text.err}`)
    t.not(text.out.trim(), '')
  }
  await daemon.stop()
})

test('the signal that ends npm start ends the daemon: it takes the place of the shell that npm starts', async (t) => {
  const programs = await mkdtemp(join(tmpdir(), 'holdfast-readme-'))
  t.teardown(() => rm(programs, { recursive: true, force: true }))
  for (const name of ['tsc', 'node'])
    await writeFile(join(programs, name), '#!/bin/sh\necho $$ "$@"\n', { mode: 0o755 })
  const { scripts } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))
  const env = { PATH: `${programs}:${process.env['PATH']}` }
  const shell = spawn('sh', ['-c', `${scripts.start} --safe`], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const said = await text(shell.stdout)
  t.is(said.trim().split('\n').at(-1), `${shell.pid} --enable-source-maps dist/core/main.js serve --safe`)
})
