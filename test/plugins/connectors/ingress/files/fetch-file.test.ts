/** Files by their address; docs/rules/ingress.md. */
import test from 'ava'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClock } from '../../../../../core/base/clock.js'
import { createOutbound } from '../../../../../core/plugin.js'
import {
  fetchFile,
  fileNameOf,
  mostFileBytes,
  type FileWish,
} from '../../../../../plugins/connectors/ingress/contract.js'

test('ingress-16: a file is fetched within its bounds, and a failure tells neither address nor credential', async (t) => {
  const asked: string[] = []
  const piece = Buffer.alloc(1024 * 1024)
  const answers: Readonly<Record<string, RequestListener>> = {
    '/a%20b.png': (_, answer) => answer.setHeader('content-type', 'Image/PNG; x=y').end('picture'),
    '/odd': (_, answer) => answer.setHeader('content-type', 'no type at all').end('x'),
    '/empty': (_, answer) => answer.end(),
    '/moved': (_, answer) => answer.writeHead(302, { location: '/odd' }).end(),
    '/gone': (_, answer) => answer.writeHead(404).end(),
    '/busy': (_, answer) => answer.writeHead(429, { 'retry-after': '7' }).end(),
    '/broken': (_, answer) => answer.writeHead(503).end(),
    '/long': (_, answer) => {
      for (let at = 0; at < 13; at += 1) answer.write(piece)
      answer.end()
    },
    '/full': (_, answer) => answer.end(Buffer.alloc(mostFileBytes)),
    '/cut': (_, answer) => void answer.writeHead(200, { 'content-length': '9' }).write('x', () => answer.destroy()),
  }
  const server = createServer((request, answer) => {
    asked.push(`${request.url} ${request.headers.authorization} ${request.headers['user-agent']}`)
    answers[request.url ?? '']?.(request, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const clock = createClock()
  const outbound = createOutbound({ clock })
  t.teardown(async () => {
    await outbound.close()
    server.close()
  })
  const fetched = (path: string, more: Partial<FileWish> = {}) =>
    fetchFile(
      outbound,
      {
        url: `http://127.0.0.1:${port}${path}`,
        headers: { authorization: 'Bearer canary' },
        allow_private_network: true,
        signal: new AbortController().signal,
        ...more,
      },
      clock,
    )
  t.deepEqual(await fetched('/a%20b.png'), {
    type: 'file',
    file: { file_name: 'a b.png', media_type: 'image/png', bytes: Buffer.from('picture') },
  })
  t.is(asked[0], '/a%20b.png Bearer canary holdfast')
  t.like(await fetched('/odd', { media_type: 'text/csv', file_name: '../x\ny' }), {
    file: { file_name: '_x_y', media_type: 'text/csv' },
  })
  t.like(await fetched('/odd'), { file: { media_type: 'application/octet-stream' } })
  t.like(await fetched('/full'), { type: 'file' })
  const count = asked.length
  t.deepEqual(await fetched('/moved'), { type: 'refused', cause: 'it is somewhere else' })
  t.is(asked.length, count + 1, 'nobody goes there')
  t.deepEqual(await fetched('/empty'), { type: 'refused', cause: 'it is empty' })
  t.deepEqual(await fetched('/gone'), { type: 'refused', cause: 'its server answers 404' })
  t.deepEqual(await fetched('/long'), { type: 'refused', cause: 'it has more than 12 MiB' })
  t.deepEqual(await fetched('/busy'), { type: 'retry', cause: 'its server has no time', retry_after_ms: 7000 })
  t.deepEqual(await fetched('/broken'), { type: 'retry', cause: 'its server fails' })
  t.deepEqual(await fetched('/cut'), { type: 'retry', cause: 'its server cannot be reached' })
  const told = asked.length
  t.deepEqual(await fetched('/odd', { size: mostFileBytes + 1 }), { type: 'refused', cause: 'it has more than 12 MiB' })
  const refused = { type: 'refused', cause: 'its address is none that may be asked' } as const
  t.deepEqual(await fetched('/odd', { allow_private_network: false }), refused)
  t.deepEqual(await fetched('', { url: 'file:///etc/passwd' }), refused)
  t.deepEqual(await fetched('', { url: 'http://user:canary@127.0.0.1/' }), refused)
  t.is(asked.length, told, 'nobody was asked')
})

test('ingress-16: the name of a file is no more than a name', (t) => {
  t.is(fileNameOf('../../etc/passwd'), '_.._etc_passwd')
  t.is(fileNameOf('a\u0000b\u202ec'), 'a_b_c')
  t.is(fileNameOf(' . '), 'file')
  t.is(fileNameOf(undefined, 'https://x.test/dir/%E2%82%AC.txt?a=b'), '€.txt')
  t.is(fileNameOf('', 'https://x.test/%ff'), '%ff')
  t.true(Buffer.byteLength(fileNameOf('€'.repeat(200))) <= 200)
})
