class Jpg < Formula
  desc "Version control for AI conversations, on git"
  homepage "{{REPOSITORY}}"
  url "{{DOWNLOADS}}/jpg-cli-{{VERSION}}.tgz"
  sha256 "{{SHA256:jpg-cli.tgz}}"
  license "Apache-2.0"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink Dir["#{libexec}/bin/*"]
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/jpg --version").strip
  end
end
