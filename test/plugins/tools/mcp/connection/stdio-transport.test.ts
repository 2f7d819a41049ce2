import { PassThrough } from 'node:stream'
import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { createSaid } from '../../../../../plugins/tools/mcp/connection/said.js'
import { createStdioTransport } from '../../../../../plugins/tools/mcp/connection/stdio-transport.js'

const quiet = (): void => {}
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, flush: () => Promise.resolve() }
const said = () => createSaid({ log, redact: (text) => text }, 'one')

test('mcp-2: a program that ends is told with what it wrote last, also if that is read behind its end', async (t) => {
  const [stdout, stderr, input] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const exited = Promise.resolve({ code: 127, signal: null })
  const reason = await new Promise<string>((resolve) => {
    const transport = createStdioTransport({
      kit: {} as any,
      clock: createClock(),
      supervised: { start: async () => ({ isThere: true, stdout, stderr, input, exited }) } as any,
      endProgram: async () => {},
      said: said(),
      wish: { run: ['nodde'], folder: '/', environment: {} },
      onEnd: resolve,
      onGarbage: quiet,
    })
    void transport
      .start()
      .then(() => exited)
      .then(() => setImmediate(() => stderr.end('nodde: not found\n')))
  })
  t.is(reason, 'it ended with code 127: nodde: not found')
})

test('mcp-2: of what a program wrote the end is told, in whole lines', (t) => {
  const one = said()
  const lines = [1, 2, 3, 4].map((n) => `${n}${'x'.repeat(150)}`)
  for (const line of [...lines, 'Error: this is why']) one.hear(line)
  t.is(one.last(), `${lines.slice(2).join(' | ')} | Error: this is why`)
  one.hear('y'.repeat(5_000))
  t.is(one.last(), 'y'.repeat(440))
})

test('mcp-2: a program whose folder is not there is told with the folder', async (t) => {
  const transport = createStdioTransport({
    kit: {} as any,
    clock: createClock(),
    supervised: { start: async () => ({ isThere: false }) } as any,
    endProgram: async () => {},
    said: said(),
    wish: { run: ['node'], folder: '/nope', environment: {} },
    onEnd: quiet,
    onGarbage: quiet,
  })
  await t.throwsAsync(() => transport.start(), { message: /in \/nope: is that folder there/u })
})
