/** Programs that nobody here wrote: openssl signs, curl posts, nginx stands in front; docs/rules/webhooks.md. */
import test, { type ExecutionContext } from 'ava'
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startTestDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'

const run = promisify(execFile)
const nginx = '/usr/sbin/nginx'
const secret = 'hmac-test-secret'
const path = '/v1/connectors/http/orders?source=a%2Fb&attempt=1'

const start = async (t: ExecutionContext) => {
  const daemon = await startTestDaemon(t)
  await daemon.request('PUT', '/v1/runtime/connectors/http/orders', {
    hmac_secret: { value: secret },
    require_hmac_signature: true,
    session_policy: { create_if_missing: true },
    default_binding_keys: ['orders'],
  })
  return daemon
}

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-outside-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** What `openssl dgst` makes of the text that is signed. */
const signatureOf = async (timestamp: string, body: string): Promise<string> => {
  const script = 'printf "v1:POST:%s:%s:%s" "$1" "$2" "$3" | openssl dgst -sha256 -hmac "$4" -r'
  const { stdout } = await run('/bin/sh', ['-c', script, 'sh', path, timestamp, body, secret])
  return stdout.slice(0, 64)
}

interface Posting {
  readonly key: string
  readonly more?: readonly string[]
  /** What is sent in place of what was signed. */
  readonly sent?: (body: string) => string
  readonly target?: string
}

/** Posts with curl; resolves with the status and the run. */
const post = async (url: string, { key, more = [], sent = (body) => body, target = path }: Posting) => {
  const body = JSON.stringify({ content: 'hello', idempotency_key: key, metadata: { k: 'v' } })
  const now = String(Math.floor(Date.now() / 1000))
  const signature = await signatureOf(now, body)
  const headers = [`x-service-timestamp: ${now}`, `x-service-signature: v1=${signature}`].flatMap((one) => ['-H', one])
  const { stdout } = await run('curl', [
    '-sS',
    '--path-as-is',
    '--max-time',
    '20',
    '-w',
    '\n%{http_code}',
    ...headers,
    ...more,
    '--data-binary',
    sent(body),
    `${url}${target}`,
  ])
  const [text = '', status = ''] = stdout.split(/\n(?=\d+$)/u)
  return { status: Number(status), run_id: /"run_id":"([^"]+)"/u.exec(text)?.[1] }
}

/** What must hold, whatever is in front. */
const holds = async (t: ExecutionContext, url: string, front: string): Promise<void> => {
  const first = await post(url, { key: `${front} 1` })
  t.is(first.status, 200, front)
  t.deepEqual(await post(url, { key: `${front} 1` }), first, 'the same message')
  const chunked = await post(url, { key: `${front} 2`, more: ['-H', 'transfer-encoding: chunked'] })
  t.is(chunked.status, 200, 'chunks')
  t.is((await post(url, { key: `${front} 3`, more: ['-H', 'content-type: text/plain'] })).status, 200)
  t.is((await post(url, { key: `${front} 4`, sent: (body) => body.replace('hello', 'hallo') })).status, 401)
  t.is((await post(url, { key: `${front} 5`, target: path.replace('%2F', '%2f') })).status, 401)
  t.is((await post(url, { key: `${front} 6`, target: `${path}&more=1` })).status, 401)
  t.is((await post(url, { key: `${front} 7`, more: ['-H', 'x-service-timestamp: 1710000000'] })).status, 401)
}

test.serial(
  'webhooks-2, webhooks-4: what openssl signs and curl posts is let in, and nothing that differs in a byte',
  async (t) => {
    const { url } = await start(t)
    await holds(t, url, 'curl')
  },
)

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

const configOf = (folder: string, port: number, { url, unbuffered }: { url: string; unbuffered: boolean }): string => `
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${url};
      proxy_http_version 1.1;
      ${unbuffered ? 'proxy_request_buffering off;' : ''}
    }
  }
}
`

const withNginx = existsSync(nginx) ? test.serial : test.serial.skip
for (const unbuffered of [false, true])
  withNginx(
    `webhooks-2: behind nginx ${unbuffered ? 'without' : 'with'} buffers a signature is of what was sent (skipped where it is not installed)`,
    async (t) => {
      const { url } = await start(t)
      const [folder, port] = [await folderOf(t), await freePort()]
      await writeFile(join(folder, 'nginx.conf'), configOf(folder, port, { url, unbuffered }))
      const child = spawn(nginx, ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
      const ended = new Promise((resolve) => child.once('close', resolve))
      t.teardown(async () => {
        child.kill('SIGQUIT')
        await ended
      })
      const front = `http://127.0.0.1:${port}`
      for (const pause = createPause(); ; await pause()) {
        const up = await fetch(`${front}/healthz`).then(
          (answer) => answer.ok,
          () => false,
        )
        if (up) break
        if (child.exitCode !== null) return t.fail('nginx did not start')
      }
      await holds(t, front, `nginx ${unbuffered}`)
    },
  )
