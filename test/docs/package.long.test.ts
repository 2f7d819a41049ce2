/** The package as an author gets it: packed and installed by the real npm, then what the guide says is typed. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { blocksFor, repository, sh, textOf, type ShellRun } from '../support/docs.js'
import { freshRoot } from '../support/folders.js'

const cache = process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? '', '.npm')

test('what npm packs works in an empty folder: a new plugin of each kind is made, compiled and tested', async (t) => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [packed, desk] = [join(folder, 'packed'), join(folder, 'desk')]
  mkdirSync(packed, { recursive: true })
  const npm = (text: string, how: string, where: string): Promise<ShellRun> =>
    sh(
      `set -e; export npm_config_cache='${cache}' npm_config_${how}=true npm_config_audit=false\n${text}`,
      where,
      600_000,
    )
  const pack = await npm(`npm pack --ignore-scripts --pack-destination '${packed}'`, 'offline', repository)
  t.is(pack.code, 0, pack.err)
  const inside = await sh(`tar -tzf '${packed}'/*.tgz`, repository)
  const examples = textOf('docs/plugin-guide.md').match(/docs\/examples\/[\w-]+\/[\w.-]+\w/gu) ?? []
  t.true(examples.length > 5)
  for (const example of examples) t.true(inside.out.includes(`package/${example}\n`), example)
  const typed = blocksFor('docs/plugin-guide.md', 'author-new')
    .join('')
    .replace(/\S*(?=holdfast-[\d.]+tgz)/u, `${packed}/`)
  const others = ['provider', 'connector']
    .map(
      (kind) =>
        `cd ..\n${typed.split('\n').slice(2).join('\n').replace(' tool ', ` ${kind} `).replaceAll('word-count', kind)}`,
    )
    .join('\n')
  const type = (how: string): Promise<ShellRun> => {
    rmSync(desk, { recursive: true, force: true })
    mkdirSync(desk)
    return npm(typed + others.replaceAll('word-count', 'first'), how, desk)
  }
  const offline = await type('offline')
  if (offline.code !== 0 && /ENOTCACHED/u.test(offline.err))
    t.log('THE CACHE OF NPM LACKS PACKAGES: THE REGISTRY IS ASKED')
  const done = offline.code === 0 ? offline : await type('prefer_offline')
  if (/ENOTCACHED|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT/u.test(done.err))
    return t.fail('THE PACKAGE WAS NOT TRIED: npm has not all of its packages in its cache, and reaches no registry')
  t.is(done.code, 0, done.out + done.err)
  t.is([...done.out.matchAll(/fail 0\n/gu)].length, 3, done.out)
  const leaves = "cd word-count; printf '\\nsetInterval(() => undefined, 1000)\\n' >> plugin.ts; timeout 120 npm test"
  const left = await npm(leaves, 'offline', desk)
  t.not(left.code, 124, 'a timer of a plugin keeps its tests from ending')
  t.regex(left.out, /fail \d+\n/u)
})
