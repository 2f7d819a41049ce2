import test from 'ava'
import { createCall } from '../../../../plugins/providers/openai-compatible/call.js'
import { startLateEndServer } from '../../../support/late-end-server.js'
import { clock, transport } from '../../../support/openai-client.js'

test.after.always(() => transport.close())

const callOf = () => createCall({ clock, signal: new AbortController().signal, idle_timeout_ms: 60_000 })

/** Reads as somebody who has other work between any two pieces. */
const readSlowly = async (answer: Response): Promise<number> => {
  let bytes = 0
  for await (const piece of answer.body ?? []) {
    bytes += piece.length
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return bytes
}

for (const first of [70_000, 140_000, 210_000])
  test.serial(`models-16: a server that ends ${first} bytes while nobody reads them ends nothing else`, async (t) => {
    const call = callOf()
    t.teardown(() => call.close())
    const server = await startLateEndServer({
      content_type: 'text/event-stream',
      first: 'a'.repeat(first),
      rest: 'b'.repeat(5000),
    })
    t.teardown(() => server.close())
    const fetch = await transport.fetchFor(call)
    const answer = await fetch(server.url, { method: 'POST', body: '{}' })
    await server.finish()
    t.is(await readSlowly(answer), first + 5000)
  })
