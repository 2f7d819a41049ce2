/** Takes deliveries and counts them; `GET /count` tells how many came and when. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const seen = { count: 0, first: 0, last: 0, body: '' }

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(seen))
    if (request.url === '/count?reset') Object.assign(seen, { count: 0, first: 0, last: 0 })
    return
  }
  const chunks: Buffer[] = []
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => {
      seen.last = performance.now()
      if (seen.count === 0) seen.first = seen.last
      seen.count += 1
      seen.body = Buffer.concat(chunks).toString()
      response.end()
    })
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
)
process.on('SIGTERM', () => process.exit(0))
