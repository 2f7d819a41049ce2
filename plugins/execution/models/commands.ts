import type { Command } from '../../../core/plugin.js'
import { init } from './init/init-command.js'

export const commands: readonly Command[] = [init]
