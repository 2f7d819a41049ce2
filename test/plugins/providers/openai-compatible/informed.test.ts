/** Servers that say something before they answer; docs/rules/models.md. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { classOf, connectTo, failureOf, transport } from '../../../support/model-client.js'
import { ask, requestOf, userText } from '../../../support/models.js'
import { bytesOf, saying } from '../../../support/openai-server.js'

test.after.always(() => transport.close())

/** The address of a server that says this before each answer. */
const serverSaying = async (t: ExecutionContext, before: string): Promise<string> => {
  const sockets = new Set<Socket>()
  const answer = bytesOf(saying('So.').chunks)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${answer.length}\r\n\r\n`
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(before)
      setTimeout(() => socket.write(Buffer.concat([Buffer.from(head), answer])), 20)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const answerOf = async (t: ExecutionContext, before: string) =>
  ask(connectTo(await serverSaying(t, before)), requestOf([userText('hi')]))

test('models-58: what a server tells before its answer is passed over', async (t) => {
  for (const before of ['HTTP/1.1 102 Processing\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n']) {
    const { text, done } = await answerOf(t, before)
    t.deepEqual([text, done?.outcome], ['So.', 'stop'])
  }
})

test('models-58: a server that says 100 Continue unasked breaks the call, which says so and may be asked again', async (t) => {
  const answer = await answerOf(t, 'HTTP/1.1 100 Continue\r\n\r\n')
  t.is(classOf(answer), 'network retryable')
  t.regex(failureOf(answer)?.message ?? '', /such as 100 Continue/u)
  t.deepEqual(answer.parts, [])
})
