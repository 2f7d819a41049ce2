/**
 * What the judge of MCP clients needs beside itself: it is made for a newer Node than the oldest that the daemon runs
 * on, and listens on every address of the machine.
 */
import { register } from 'node:module'
import { Server } from 'node:net'

const fs = `import fs from 'node:fs'; export * from 'node:fs'; export default fs; export const globSync = () => []`
const hooks = `export const resolve = (name, context, next) =>
  name === 'fs' && context.parentURL?.includes('/conformance/')
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)}, shortCircuit: true }
    : next(name, context)`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)

// `listen` with a host answers later than the judge asks for the port; this is what it calls without one.
const server: any = Server.prototype
const { _listen2 } = server
server._listen2 = function (this: Server, address: string | null, port: number, _: number, ...rest: unknown[]) {
  return _listen2.call(this, address ?? '127.0.0.1', port, 4, ...rest)
}
