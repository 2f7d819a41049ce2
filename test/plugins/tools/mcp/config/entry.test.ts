import test from 'ava'
import { parse } from '../../../../../core/plugin.js'
import { ServerEntry, serverList } from '../../../../../plugins/tools/mcp/config/entry.js'

const faultOf = (entry: object): string | undefined => {
  const read = parse(ServerEntry, entry)
  if (!read.ok) return read.issues.map(({ path, rule }) => `${path} ${rule}`).join('; ')
  return serverList().fault?.('a', read.value)
}

test('mcp-1: a server is a program or an address, and has keys of its kind alone', (t) => {
  t.is(faultOf({ command: 'server', args: ['--stdio'], env: { A: '1' }, inherit_env: true }), undefined)
  t.is(faultOf({ url: 'https://mcp.example/mcp', bearer_token_secret_ref: 'mcp.a' }), undefined)
  t.is(faultOf({ url: 'http://127.0.0.1:1/', allow_private_network: true }), undefined)
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{}, /either command or url/u],
    [{ command: 'a', url: 'https://a.example/' }, /either command or url/u],
    [{ command: 'a', headers: { a: 'b' } }, /headers is for a server with url/u],
    [{ url: 'https://a.example/', env: { A: 'b' } }, /env is for a server with command/u],
    [{ url: 'http://127.0.0.1:1/' }, /allow_private_network or allow_cidrs/u],
    [{ url: 'file:///etc/passwd' }, /must begin with http/u],
    [{ url: 'https://a.example/', bearer_token_env_var: 'A', oauth_slot_ref: 'mcp.a' }, /one of bearer_token/u],
    [{ command: 'a', env: { SERVICE_API_KEY: 'x' } }, /not those of the daemon/u],
    [{ command: 'a', env: { 'A=B': 'x' } }, /names of environment variables/u],
    [{ url: 'https://a.example/', headers: { 'x y': 'z' } }, /names of HTTP headers/u],
    [{ url: 'https://a.example/', headers: { Host: 'z' } }, /names of HTTP headers/u],
    [{ command: 'a\u0000b' }, /character NUL/u],
    [{ command: 'a', args: ['\u0000'] }, /character NUL/u],
    [{ command: 'a', env: { A: 'b\u0000' } }, /character NUL/u],
    [{ command: 'a', cwd: '/\u0000' }, /character NUL/u],
    [{ url: 'https://a.example/', headers: { a: 'b\r\nc: d' } }, /line ends/u],
    [{ url: 'https://a.example/', headers: { a: 'b\nc' } }, /line ends/u],
    [{ url: 'https://a.example/', headers: { a: '\u0000' } }, /HTTP does not carry/u],
    [{ command: 'a', startup_timeout_sec: 0 }, /startup_timeout_sec/u],
    [{ command: 'a', effects: { tool: 'never' } }, /effects\.tool/u],
    [{ command: 'a', comand: 'b' }, /comand/u],
  ]
  for (const [entry, rule] of wrong) t.regex(faultOf(entry) ?? '', rule)
})
