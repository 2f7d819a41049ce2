/** What tests of MCP have in common. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reachable } from './daemon.js'
import type { McpPlan } from './mcp-server.js'

const fixture = fileURLToPath(new URL('mcp-server.js', import.meta.url))

/** The entry of a server that keeps to a plan. */
export const planned = (plan: McpPlan, more: object = {}) => ({
  command: process.execPath,
  args: [fixture, JSON.stringify(plan)],
  ...more,
})

const value = (of: unknown): string =>
  Array.isArray(of)
    ? `[${of.map(value).join(', ')}]`
    : typeof of === 'object' && of !== null
      ? `{ ${Object.entries(of)
          .map(([key, inner]) => `${JSON.stringify(key)} = ${value(inner)}`)
          .join(', ')} }`
      : JSON.stringify(of)

/** Writes `config/mcp.toml`. */
export const writeServers = async (root: string, servers: Readonly<Record<string, object>>): Promise<void> => {
  const text = Object.entries(servers).map(
    ([name, entry]) =>
      `[mcp_servers.${name}]\n${Object.entries(entry)
        .map(([key, of]) => `${key} = ${value(of)}`)
        .join('\n')}\n`,
  )
  await mkdir(join(root, 'config'), { recursive: true })
  await writeFile(join(root, 'config', 'mcp.toml'), text.join('\n'))
}

/** Asks until something holds, for two minutes at most: dozens of programs of other tests may start beside. */
export const eventually = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
  for (let left = 4800; left > 0; left -= 1) {
    const found = await ask()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('it did not happen')
}

/** The server, once it is in this state. */
export const serverIn = ({ request }: Reachable, name: string, state = 'connected'): Promise<any> =>
  eventually(async () => {
    const { body } = await request('GET', '/v1/runtime/mcp/servers')
    return body.servers.find((server: any) => server.name === name && server.state === state)
  })

/** What the server was asked, once it was asked this. */
export const askedOf = (notes: string, line?: string): Promise<string[]> =>
  eventually(async () => {
    const lines = (await readFile(notes, 'utf8').catch(() => '')).split('\n').filter((one) => one !== '')
    return line === undefined || lines.includes(line) ? lines : undefined
  })
