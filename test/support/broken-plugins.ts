/** Daemons with a plugin that is broken on purpose. */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freshRoot } from './folders.js'

const fixtures = fileURLToPath(new URL('../../../test/broken-plugins', import.meta.url))

/** A root of which the daemon loads this plugin of `test/broken-plugins`. */
export const rootWith = async (plugin: string): Promise<string> => {
  const root = await freshRoot()
  await mkdir(path.join(root, 'config'))
  await cp(path.join(fixtures, plugin), path.join(root, 'plugins', plugin), { recursive: true })
  await writeFile(path.join(root, 'config', 'plugins.toml'), `[${plugin}]\nfrom = "state:${plugin}"\n`)
  return root
}
