import { defineCommand } from '../command.js';
import { parseOneOf } from '../option-values.js';

// Each asks the command line itself, so that it stays right when the package is updated, and offers
// files where that has nothing to say.
const scripts = {
  bash: `_merchant_payments() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _merchant_payments merchant-payments
`,
  zsh: `_merchant_payments() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
compdef _merchant_payments merchant-payments
`,
  fish: `function _merchant_payments
  set -l found (merchant-payments completion words -- (commandline -opc)[2..-1] "$(commandline -ct)" 2>/dev/null)
  if test -n "$found"; printf '%s\\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c merchant-payments -f -a '(_merchant_payments)'
`,
};

const shells = Object.keys(scripts) as (keyof typeof scripts)[];

export const completion = defineCommand({
  name: 'completion',
  summary: 'Prints a script with which a shell completes commands and options.',
  positionals: [shells.join('|')],
  wordChoices: [shells],
  options: {},
  details: [
    'Write into ~/.bashrc or ~/.zshrc (after compinit): source <(merchant-payments completion bash), or zsh; into ~/.config/fish/config.fish: merchant-payments completion fish | source. merchant-payments must be on the PATH.',
    '',
    'For another shell: merchant-payments completion words -- and the words so far prints what can stand for the last of them, one a line.',
  ],
  examples: ['merchant-payments completion bash'],
  async run({ words: [shell = ''] }) {
    const script = scripts[parseOneOf('the shell', shell, shells)];
    return { json: script, lines: () => [script.trimEnd()] };
  },
});
