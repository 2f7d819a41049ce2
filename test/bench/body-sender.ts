/** Clients in a process of their own that submit large bodies: URL, session, clients, and how often each sends. */
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

const [url, session, clients = '1', rounds = '1'] = process.argv.slice(2)
const headers = { 'content-type': 'application/json' }
const client = async (): Promise<void> => {
  for (let n = 0; n < Number(rounds); n += 1) {
    const answer = await fetch(`${url}/v1/sessions/${session}/runs`, { method: 'POST', body: largeBody, headers })
    await answer.text()
  }
}
if (url?.startsWith('http://') === true) await Promise.all(Array.from({ length: Number(clients) }, client))
