/** Clients in a process of their own that submit large bodies: URL, session, clients, and how often each sends. */
import { Agent, request } from 'node:http'
import { readJson } from '../../core/http/server/json-text.js'

const mebibyte = 1_048_576
const content_base64 = Buffer.from(Array.from({ length: 3 * 1024 }, (_, n) => (n * 31) % 251))
  .toString('base64')
  .repeat((23 * mebibyte) / 4096)
/** A submission with 23 MiB of a file in it. */
export const largeBody = Buffer.from(
  JSON.stringify({ content: 'x', attachments: [{ file_name: 'a.bin', media_type: 'a/b', content_base64 }] }),
)

/** Milliseconds that one such body takes on the event loop that reads it, the least of a few. */
export const readHere = (): number =>
  Math.min(
    ...Array.from({ length: 5 }, () => {
      const began = performance.now()
      readJson(largeBody)
      return performance.now() - began
    }),
  )

const [url = '', session, clients = '1', rounds = '1'] = process.argv.slice(2)
const options = { method: 'POST', headers: { 'content-type': 'application/json' }, agent: new Agent() }
/** One body; the same memory for all that are sent at once. */
const sendBody = (): Promise<void> =>
  new Promise((resolve) => {
    const sent = request(`${url}/v1/sessions/${session}/runs`, options, (answer) =>
      answer.resume().on('close', resolve),
    )
    sent.on('error', () => resolve()).end(largeBody)
  })
const client = async (): Promise<void> => {
  for (let n = 0; n < Number(rounds); n += 1) await sendBody()
}
if (url.startsWith('http://')) await Promise.all(Array.from({ length: Number(clients) }, client))
