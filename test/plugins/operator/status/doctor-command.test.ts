import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

const ill = (severity: 'info' | 'warning') =>
  testPlugin('ill', {
    register(ctx) {
      ctx.health({
        id: 'ill',
        check: () => [{ severity, code: 'rain_soon', message: 'It may rain.', action: 'Take an umbrella.' }],
      })
    },
  })

test('command-line-28: a daemon that is well is said to be, with 0, and a note does not make it ill', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [ill('info')] })
  const { code, out } = await createCommandLine(daemon)('doctor')
  t.is(code, 0)
  t.regex(out, /^well {2}daemon: Holdfast \S+ answers at http:\S+, process \d+\nwell {2}readiness: it takes work\n/u)
  t.regex(out, /^well {2}info: It may rain\. \(rain_soon\)\n {6}Take an umbrella\.\n\nAll is well\.\n$/mu)
})

test('command-line-28: each warning of the status is one that is not well, with what mends it, and 1', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [ill('warning')] })
  const line = createCommandLine(daemon)
  const { code, out } = await line('doctor')
  t.is(code, 1)
  t.regex(out, /^WRONG warning: It may rain\. \(rain_soon\)\n {6}Take an umbrella\.\n\n1 of 3 is not well\.\n$/mu)
  const json = await line('doctor', '--output', 'json')
  t.is(json.code, 1)
  const { ok, checks } = JSON.parse(json.out)
  t.false(ok)
  t.deepEqual(
    checks.map((check: any) => [check.about, check.ok, check.code]),
    [
      ['daemon', true, undefined],
      ['readiness', true, undefined],
      ['warning', false, 'rain_soon'],
    ],
  )
})

test('command-line-28: a daemon that does not answer is told as by every command, with 1', async (t) => {
  const nobody = await createCommandLine({ url: 'http://127.0.0.1:1' })('doctor')
  t.is(nobody.code, 1)
  t.regex(nobody.err, /no daemon answers .*\(daemon_unreachable\)\nStart one with holdfast serve/u)
})

test('command-line-29: --cors-origin asks as a browser does whether pages may call', async (t) => {
  const open = await startTestDaemon(t)
  const line = createCommandLine(open)
  const may = await line('doctor', '--cors-origin', 'http://localhost:5173')
  t.is(may.code, 0)
  t.regex(
    may.out,
    /^well {2}web pages of http:\/\/localhost:5173: may call, with a token where the daemon was started with one$/mu,
  )
  const foreign = await line('doctor', '--cors-origin', 'https://app.example')
  t.is(foreign.code, 1)
  t.regex(foreign.out, /^WRONG web pages of https:\/\/app\.example: .*\(origin_not_allowed\)\n {6}No page of another/mu)
  for (const wrong of ['localhost:5173', 'http://localhost:5173/path', 'ftp://localhost']) {
    const { code, err } = await line('doctor', '--cors-origin', wrong)
    t.is(code, 2)
    t.regex(err, /--cors-origin must be an origin without a path/u)
  }
  const exact = await startTestDaemon(t, { flags: { 'http-cors-allow-origin': 'http://localhost:3000' } })
  const other = await createCommandLine(exact)('doctor', '--cors-origin', 'http://localhost:5173')
  t.is(other.code, 1)
  t.regex(other.out, /Start the daemon with http:\/\/localhost:5173 among the origins of --http-cors-allow-origin\./u)
})

test('command-line-29: an answer between a browser and the daemon that lacks what a page sends is told', async (t) => {
  const daemon = await startTestDaemon(t)
  const between = createServer((request, response) => {
    const isPreflight = request.method === 'OPTIONS'
    if (isPreflight) {
      const { origin = '' } = request.headers
      const told = origin.includes('half') ? { 'access-control-allow-origin': origin } : {}
      response.writeHead(204, { ...told, 'access-control-allow-methods': 'GET,POST' }).end()
      return
    }
    void fetch(new URL(request.url ?? '', daemon.url)).then(async (answer) => {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void between.close())
  const line = createCommandLine({ url: `http://127.0.0.1:${(between.address() as AddressInfo).port}` })
  const none = await line('doctor', '--cors-origin', 'http://localhost:1')
  t.regex(none.out, /does not name them \(cors_unanswered\)/u)
  const half = await line('doctor', '--cors-origin', 'http://half.example')
  t.regex(half.out, /may not send authorization, content-type \(cors_lacking\)/u)
  t.is(half.code, 1)
})
