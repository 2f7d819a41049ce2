// Makes what fails later, and does not listen to its errors.
import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { get } from 'node:http'
import { connect } from 'node:net'

const made = {
  program: () => spawn('/no/such/program'),
  socket: () => connect(1, '127.0.0.1'),
  request: () => get('http://127.0.0.1:1/'),
  file: () => createReadStream('/no/such/file'),
}

export default (kit) => ({
  id: 'hears-no-errors',
  version: '1.0.0',
  api: 1,
  summary: 'Does not listen to the errors of what it makes.',
  register(ctx) {
    for (const [what, make] of Object.entries(made))
      ctx.routes(
        kit.defineRoute({
          id: `unheard.${what}`,
          method: 'GET',
          path: `/v1/unheard/${what}`,
          summary: 'Makes it.',
          access: 'read',
          reply: kit.textReply(),
          handler: () => {
            make()
            return 'made'
          },
        }),
      )
  },
})
