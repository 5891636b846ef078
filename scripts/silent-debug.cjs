// Stands for the package `debug`, which simple-git and its parts log to: with DEBUG set they would print every argument, and
// addresses of remotes with the passwords in them. Loading it takes longer than loading simple-git, too.
const debug = () => Object.assign(() => undefined, { extend: debug });
module.exports = Object.assign(debug, { formatters: {} });
