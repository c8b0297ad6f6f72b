class Rtl < Formula
  desc "Tracer for AMD GPUs, and tools that say where the time went"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"
  depends_on :linux

  on_intel do
    url "@URL@/rtl-@VERSION@-x86_64-linux-gnu.tar.gz"
    sha256 "@SHA256_x86_64-linux-gnu@"
  end
  on_arm do
    url "@URL@/rtl-@VERSION@-aarch64-linux-musl.tar.gz"
    sha256 "@SHA256_aarch64-linux-musl@"
  end

  def install
    prefix.install Dir["*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rtl --version")
  end
end
