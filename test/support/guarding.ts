/** What the daemon knows as secret, in a test that runs none. */
import { createSecrets, type Secrets } from '../../core/base/text/secrets.js'

const noFiles = {
  stat: () => undefined,
  readFile: () => undefined,
  makeFolder: () => Promise.resolve(),
  replace: () => Promise.resolve(),
  unlink: () => Promise.resolve(),
  syncFolder: () => Promise.resolve(),
  list: () => [],
}

export const guarding = (value: string): Secrets => {
  const secrets = createSecrets({ disk: noFiles, root: '/nowhere', unwritten: () => new Error('no disk') })
  secrets.guard(value)
  return secrets
}
